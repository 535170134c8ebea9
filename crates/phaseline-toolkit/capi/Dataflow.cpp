//===- Dataflow.cpp - C API of dataflow analyses --------------------------===//

#include "capi/Dataflow.h"

#include "mlir/Analysis/DataFlow/DenseAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/CAPI/IR.h"

using namespace mlir;
using namespace mlir::dataflow;

namespace {

/// Changes of one state, at most: more are those of a lattice without a top.
constexpr unsigned maxChanges = 10000;

/// The analysis that runs on this thread: MLIR makes states by their anchor
/// alone.
struct Running {
  const PhlDataflow *analysis;
  bool ends = true;
};
thread_local Running *running = nullptr;

/// A state of the caller's, made when it is first needed.
struct Cell {
  ~Cell() {
    if (state)
      running->analysis->drop(state, running->analysis->user);
  }

  void *get() const {
    if (!state)
      state = running->analysis->make(running->analysis->user);
    return state;
  }

  ChangeResult join(const void *from) {
    if (!running->analysis->join(get(), from, running->analysis->user))
      return ChangeResult::NoChange;
    if (++changes > maxChanges) {
      running->ends = false;
      return ChangeResult::NoChange;
    }
    return ChangeResult::Change;
  }

  mutable void *state = nullptr;
  unsigned changes = 0;
};

/// A state that is filled and joined into others.
struct Scratch : public Cell {
  static Scratch border(Value value) {
    Scratch made;
    const PhlDataflow *analysis = running->analysis;
    analysis->border(wrap(value), made.get(), analysis->user);
    return made;
  }

  Scratch() = default;
  Scratch(Scratch &&other) { std::swap(state, other.state); }
};

template <typename Base> struct Lattice : public Base {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Lattice)
  using Base::Base;

  ChangeResult join(const Base &other) override {
    return cell.join(static_cast<const Lattice &>(other).cell.get());
  }
  ChangeResult meet(const Base &other) { return join(other); }
  void print(raw_ostream &os) const override { os << "state"; }

  Cell cell;
};

/// Backward analyses meet what forward ones join.
struct Sparse : public Lattice<AbstractSparseLattice> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Sparse)
  using Lattice::Lattice;

  ChangeResult meet(const AbstractSparseLattice &other) override {
    return join(other);
  }
};

struct Dense : public Lattice<AbstractDenseLattice> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Dense)
  using Lattice::Lattice;
};

/// Visits an operation, and joins what it gives.
template <typename From, typename To, typename Changed>
void apply(Operation *op, ArrayRef<From *> before, ArrayRef<To *> behind,
           Changed changed) {
  SmallVector<const void *> ins;
  for (const From *lattice : before)
    ins.push_back(lattice->cell.get());
  SmallVector<Scratch> made(behind.size());
  SmallVector<void *> outs;
  for (Scratch &scratch : made)
    outs.push_back(scratch.get());
  const PhlDataflow *analysis = running->analysis;
  analysis->visit(wrap(op), ins.data(), ins.size(), outs.data(), outs.size(),
                  analysis->user);
  for (auto [lattice, scratch] : llvm::zip(behind, made))
    changed(lattice, lattice->cell.join(scratch.get()));
}

struct Forward : public SparseForwardDataFlowAnalysis<Sparse> {
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op, ArrayRef<const Sparse *> before,
                               ArrayRef<Sparse *> behind) override {
    apply(op, before, behind, [&](Sparse *lattice, ChangeResult changed) {
      propagateIfChanged(lattice, changed);
    });
    return success();
  }
  void setToEntryState(Sparse *lattice) override {
    Scratch border = Scratch::border(lattice->getAnchor());
    propagateIfChanged(lattice, lattice->cell.join(border.get()));
  }
};

struct Backward : public SparseBackwardDataFlowAnalysis<Sparse> {
  using SparseBackwardDataFlowAnalysis::SparseBackwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op, ArrayRef<Sparse *> before,
                               ArrayRef<const Sparse *> behind) override {
    apply(op, behind, before, [&](Sparse *lattice, ChangeResult changed) {
      propagateIfChanged(lattice, changed);
    });
    return success();
  }
  void visitBranchOperand(OpOperand &operand) override {
    setToExitState(getLatticeElement(operand.get()));
  }
  void visitCallOperand(OpOperand &operand) override {
    setToExitState(getLatticeElement(operand.get()));
  }
  void visitNonControlFlowArguments(RegionSuccessor &,
                                    ArrayRef<BlockArgument>) override {}
  void setToExitState(Sparse *lattice) override {
    Scratch border = Scratch::border(lattice->getAnchor());
    propagateIfChanged(lattice, lattice->cell.join(border.get()));
  }
};

struct Places : public DenseForwardDataFlowAnalysis<Dense> {
  using DenseForwardDataFlowAnalysis::DenseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op, const Dense &before,
                               Dense *after) override {
    const Dense *ins[] = {&before};
    Dense *outs[] = {after};
    apply(op, ArrayRef<const Dense *>(ins), ArrayRef<Dense *>(outs),
          [&](Dense *lattice, ChangeResult changed) {
            propagateIfChanged(lattice, changed);
          });
    return success();
  }
  void setToEntryState(Dense *lattice) override {
    Scratch border = Scratch::border(Value());
    propagateIfChanged(lattice, lattice->cell.join(border.get()));
  }
};

} // namespace

bool phlDataflowRun(MlirOperation raw, const PhlDataflow *analysis) {
  Operation *op = unwrap(raw);
  Running now = {analysis};
  Running *outer = std::exchange(running, &now);
  bool ok;
  {
    SymbolTableCollection symbols;
    DataFlowSolver solver;
    loadBaselineAnalyses(solver);
    switch (analysis->kind) {
    case PHL_DATAFLOW_FORWARD:
      solver.load<Forward>();
      break;
    case PHL_DATAFLOW_BACKWARD:
      solver.load<Backward>(symbols);
      break;
    case PHL_DATAFLOW_DENSE:
      solver.load<Places>();
      break;
    }
    ok = succeeded(solver.initializeAndRun(op));
    auto tell = [&](Value value) {
      if (auto *found = solver.lookupState<Sparse>(value))
        analysis->found(wrap(value), MlirOperation{nullptr}, found->cell.get(),
                        analysis->user);
    };
    if (ok)
      op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
        for (Region &region : inner->getRegions())
          for (Block &block : region)
            llvm::for_each(block.getArguments(), tell);
        if (inner == op)
          return;
        llvm::for_each(inner->getResults(), tell);
        auto *point = solver.getProgramPointAfter(inner);
        if (auto *found = solver.lookupState<Dense>(point))
          analysis->found(MlirValue{nullptr}, wrap(inner), found->cell.get(),
                          analysis->user);
      });
  }
  running = outer;
  return ok && now.ends;
}
