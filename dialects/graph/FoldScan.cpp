//===- FoldScan.cpp - Canonical form of loops -----------------------------===//

#include "graph/GraphStructure.h"

#include "graph/GraphShape.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace phl::graph;

namespace {
/// A loop that is taken apart to be put together with less.
struct Parts {
  explicit Parts(ScanOp op)
      : states(op.getStates()), sequences(op.getSequences()),
        captured(op.getCaptured()) {
    Block &block = op.getBody().front();
    auto next = block.args_begin();
    for (auto [group, count] : {std::pair(&stateArgs, states.size()),
                                std::pair(&sequenceArgs, sequences.size()),
                                std::pair(&capturedArgs, captured.size())})
      for (size_t i = 0; i < count; ++i)
        group->push_back(*next++);
    auto yields = cast<YieldOp>(block.getTerminator()).getValues();
    llvm::append_range(nextStates, yields.take_front(states.size()));
    llvm::append_range(slices, yields.drop_front(states.size()));
    for (size_t i = 0; i < sequences.size(); ++i) {
      inputAxes.push_back(ScanOp::entry(op.getInputAxes(), i));
      inputReversed.push_back(ScanOp::entry(op.getInputReversed(), i));
    }
    for (size_t i = 0; i < slices.size(); ++i) {
      outputAxes.push_back(ScanOp::entry(op.getOutputAxes(), i));
      outputReversed.push_back(ScanOp::entry(op.getOutputReversed(), i));
    }
    llvm::append_range(results, op.getOutputs());
  }

  SmallVector<Value> states, sequences, captured;
  SmallVector<BlockArgument> stateArgs, sequenceArgs, capturedArgs;
  SmallVector<Value> nextStates, slices;
  SmallVector<int64_t> inputAxes, inputReversed, outputAxes, outputReversed;
  /// Results of the loop before: of each state, then of each slice. Null for an
  /// unused one.
  SmallVector<Value> results;
};

template <typename T> void removeAt(SmallVectorImpl<T> &list, size_t index) {
  list.erase(list.begin() + index);
}

/// Makes loops smaller: constants are made inside, states that stay are
/// captured, and what nothing uses is left out.
struct SimplifyScan : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    Parts parts(op);
    bool changed = captureStates(parts, rewriter);
    changed |= dropStates(parts);
    changed |= dropSequences(parts, ShapedType::isDynamic(op.getSteps()));
    changed |= dropCaptured(parts, op, rewriter);
    changed |= dropSlices(parts);
    if (!changed)
      return failure();
    rebuild(op, parts, rewriter);
    return success();
  }

private:
  /// A state whose next value is itself is the same in each step.
  static bool captureStates(Parts &parts, PatternRewriter &rewriter) {
    bool changed = false;
    for (size_t i = parts.states.size(); i-- > 0;) {
      if (parts.nextStates[i] != parts.stateArgs[i] ||
          parts.states[i].getType() != parts.stateArgs[i].getType())
        continue;
      parts.captured.push_back(parts.states[i]);
      parts.capturedArgs.push_back(parts.stateArgs[i]);
      rewriter.replaceAllUsesWith(parts.results[i], parts.states[i]);
      eraseState(parts, i);
      changed = true;
    }
    return changed;
  }

  static bool dropStates(Parts &parts) {
    bool changed = false;
    for (size_t i = parts.states.size(); i-- > 0;) {
      if (!parts.stateArgs[i].use_empty() || !parts.results[i].use_empty())
        continue;
      eraseState(parts, i);
      changed = true;
    }
    return changed;
  }

  static void eraseState(Parts &parts, size_t i) {
    removeAt(parts.states, i);
    removeAt(parts.stateArgs, i);
    removeAt(parts.nextStates, i);
    removeAt(parts.results, i);
  }

  /// The last sequence stays where the number of steps is that of its slices.
  static bool dropSequences(Parts &parts, bool isOpen) {
    bool changed = false;
    for (size_t i = parts.sequences.size(); i-- > 0;) {
      if (!parts.sequenceArgs[i].use_empty() ||
          (isOpen && parts.sequences.size() == 1))
        continue;
      removeAt(parts.sequences, i);
      removeAt(parts.sequenceArgs, i);
      removeAt(parts.inputAxes, i);
      removeAt(parts.inputReversed, i);
      changed = true;
    }
    return changed;
  }

  /// Captured values that are constants, used nowhere, or captured twice.
  static bool dropCaptured(Parts &parts, ScanOp op, PatternRewriter &rewriter) {
    bool changed = false;
    Block &block = op.getBody().front();
    for (size_t i = parts.captured.size(); i-- > 0;) {
      BlockArgument argument = parts.capturedArgs[i];
      auto first = llvm::find(parts.captured, parts.captured[i]);
      size_t earlier = first - parts.captured.begin();
      Operation *constant = parts.captured[i].getDefiningOp();
      bool unused = argument.use_empty();
      if (!unused && isa_and_nonnull<ConstantOp>(constant)) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPointToStart(&block);
        Operation *copy = rewriter.clone(*constant);
        rewriter.replaceAllUsesWith(argument, copy->getResult(0));
      } else if (!unused && earlier < i) {
        rewriter.replaceAllUsesWith(argument, parts.capturedArgs[earlier]);
      } else if (!unused) {
        continue;
      }
      removeAt(parts.captured, i);
      removeAt(parts.capturedArgs, i);
      changed = true;
    }
    return changed;
  }

  static bool dropSlices(Parts &parts) {
    bool changed = false;
    for (size_t i = parts.slices.size(); i-- > 0;) {
      size_t result = parts.states.size() + i;
      if (!parts.results[result].use_empty())
        continue;
      removeAt(parts.slices, i);
      removeAt(parts.outputAxes, i);
      removeAt(parts.outputReversed, i);
      removeAt(parts.results, result);
      changed = true;
    }
    return changed;
  }

  static void rebuild(ScanOp op, Parts &parts, PatternRewriter &rewriter) {
    SmallVector<Value> operands(parts.states);
    llvm::append_range(operands, parts.sequences);
    llvm::append_range(operands, parts.captured);
    if (Value limit = op.getLimit())
      operands.push_back(limit);
    SmallVector<Type> types;
    for (Value result : parts.results)
      types.push_back(result.getType());
    OperationState state(op.getLoc(), ScanOp::getOperationName(), operands,
                         types);
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      state.addAttribute(attribute.getName(), attribute.getValue());
    auto &properties = state.getOrAddProperties<ScanOp::Properties>();
    properties = op.getProperties();
    properties.operandSegmentSizes = {
        static_cast<int32_t>(parts.states.size()),
        static_cast<int32_t>(parts.sequences.size()),
        static_cast<int32_t>(parts.captured.size()), op.getLimit() ? 1 : 0};
    auto list = [&](ArrayRef<int64_t> values) {
      bool zeros = llvm::all_of(values, [](int64_t each) { return each == 0; });
      return rewriter.getDenseI64ArrayAttr(zeros ? ArrayRef<int64_t>()
                                                 : values);
    };
    properties.input_axes = list(parts.inputAxes);
    properties.input_reversed = list(parts.inputReversed);
    properties.output_axes = list(parts.outputAxes);
    properties.output_reversed = list(parts.outputReversed);
    state.addRegion();
    auto small = cast<ScanOp>(rewriter.create(state));
    moveBody(op, small, parts, rewriter);
    for (auto [old, now] : llvm::zip_equal(parts.results, small.getOutputs()))
      rewriter.replaceAllUsesWith(old, now);
    rewriter.eraseOp(op);
  }

  static void moveBody(ScanOp op, ScanOp small, Parts &parts,
                       PatternRewriter &rewriter) {
    Block &old = op.getBody().front();
    Block *block = rewriter.createBlock(&small.getBody());
    SmallVector<Value> arguments(old.getNumArguments());
    for (auto *group :
         {&parts.stateArgs, &parts.sequenceArgs, &parts.capturedArgs})
      for (BlockArgument argument : *group)
        arguments[argument.getArgNumber()] =
            block->addArgument(argument.getType(), argument.getLoc());
    // Dropped values have uses only in the yield, which is made anew.
    Operation *yield = old.getTerminator();
    SmallVector<Value> values(parts.nextStates);
    llvm::append_range(values, parts.slices);
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(values); });
    rewriter.mergeBlocks(&old, block, arguments);
  }
};
} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<SimplifyScan>(context);
}
