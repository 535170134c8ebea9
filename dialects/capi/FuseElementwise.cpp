//===- FuseElementwise.cpp - Fusion of elementwise operations -------------===//
//
// `fuse-elementwise-ops` is upstream's `linalg-fuse-elementwise-ops` with a
// bound on what becomes one loop body. Each step of fusion writes the body
// anew, and what LLVM does with a body grows faster than its length, so that
// without a bound thousands of operations in a row take minutes. It is C++
// because upstream exports the patterns, but no pass with a bound.
//
//===----------------------------------------------------------------------===//

#include "capi/Native.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace {

/// Weight of a function of `math`, whose polynomial has about so many steps.
constexpr int64_t kFunctionWeight = 16;

struct FuseElementwiseOpsPass
    : public PassWrapper<FuseElementwiseOpsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseElementwiseOpsPass)

  FuseElementwiseOpsPass() = default;
  FuseElementwiseOpsPass(const FuseElementwiseOpsPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const final { return "fuse-elementwise-ops"; }
  StringRef getDescription() const final {
    return "Fuse elementwise operations into loop bodies of bounded length";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, linalg::LinalgDialect,
                    tensor::TensorDialect>();
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::ControlFusionFn control = [this](OpOperand *operand) {
      return isWorthwhile(operand);
    };
    linalg::populateElementwiseOpsFusionPatterns(patterns, control);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, onlyUse);
    tensor::populateBubbleUpExpandShapePatterns(patterns);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    linalg::populateConstantFoldLinalgOperations(patterns, onlyUse);
    // As upstream: what does not converge is valid IR all the same.
    GreedyRewriteConfig config;
    (void)applyPatternsGreedily(getOperation(), std::move(patterns),
                                config.setUseTopDownTraversal());
  }

  static bool onlyUse(OpOperand *operand) {
    Operation *producer = operand->get().getDefiningOp();
    return producer && producer->hasOneUse();
  }

  bool isWorthwhile(OpOperand *operand) const {
    if (!onlyUse(operand))
      return false;
    Operation *producer = operand->get().getDefiningOp();
    Operation *consumer = operand->getOwner();
    if (producer->getNumOperands() + consumer->getNumOperands() >
        static_cast<uint64_t>(maxOperands))
      return false;
    int64_t left = maxBody;
    return !repeats(operand) && fits(producer, left) && fits(consumer, left);
  }

  /// True if a producer that adds to what its result was would do so several
  /// times: the loop nest of the consumer has loops that it does not have. A
  /// sum over a dimension of one element is such a producer; all its loops are
  /// parallel, so that upstream's patterns take it for elementwise.
  static bool repeats(OpOperand *operand) {
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
    if (!producer || !consumer)
      return false;
    bool adds =
        llvm::any_of(producer.getDpsInitsMutable(), [&](OpOperand &init) {
          return producer.payloadUsesValueFromOperand(&init);
        });
    return adds && !consumer.getMatchingIndexingMap(operand).isPermutation();
  }

  /// Takes the weight of the body of `op` from `left`; false if it is more.
  static bool fits(Operation *op, int64_t &left) {
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps()) {
        bool function =
            isa<math::MathDialect>(inner.getDialect()) &&
            !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp,
                 math::CeilOp, math::FloorOp, math::RoundOp, math::RoundEvenOp,
                 math::TruncOp>(inner);
        left -= function ? kFunctionWeight : 1;
        if (left < 0 || !fits(&inner, left))
          return false;
      }
    return true;
  }

  Option<int64_t> maxBody{
      *this, "max-body",
      llvm::cl::desc("Operations in a body; a function such as exp counts 16"),
      llvm::cl::init(128)};
  Option<int64_t> maxOperands{
      *this, "max-operands",
      llvm::cl::desc("Tensors that one body reads and writes"),
      llvm::cl::init(64)};
};

} // namespace

void phl::registerFuseElementwiseOpsPass() {
  PassRegistration<FuseElementwiseOpsPass>();
}
