//===- InferSpace.cpp - Types of ops between space and depth --------------===//

#include "graph/GraphShape.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace phl::graph;

using llvm::MulOverflow;

static LogicalResult checkBlock(Infer &infer, Value x, int64_t block) {
  if (failed(infer.rankIs("x", x, 4)))
    return failure();
  // The bound keeps the square exact.
  if (block < 1 || block > (1 << 20))
    return infer.fail("'blocksize' must be from 1 to ", 1 << 20, ", but is ",
                      block);
  return success();
}

static int64_t times(int64_t dim, int64_t factor) {
  int64_t product;
  if (!known(dim) || MulOverflow(dim, factor, product))
    return kDynamic;
  return product;
}

static int64_t over(int64_t dim, int64_t divisor) {
  return known(dim) ? dim / divisor : kDynamic;
}

LogicalResult DepthToSpaceOp::inferTypes(Infer &infer, Adaptor adaptor,
                                         Types &types) {
  int64_t block = adaptor.getBlocksize();
  if (failed(checkBlock(infer, adaptor.getX(), block)))
    return failure();
  RankedTensorType type = typeOf(adaptor.getX());
  ArrayRef<int64_t> x = type.getShape();
  if (known(x[1]) && x[1] % (block * block) != 0)
    return infer.fail("'x' has ", x[1],
                      " channels, which is no multiple of the square of "
                      "'blocksize' = ",
                      block);
  types.push_back(RankedTensorType::get(
      {x[0], over(x[1], block * block), times(x[2], block), times(x[3], block)},
      type.getElementType()));
  return success();
}

LogicalResult SpaceToDepthOp::inferTypes(Infer &infer, Adaptor adaptor,
                                         Types &types) {
  int64_t block = adaptor.getBlocksize();
  if (failed(checkBlock(infer, adaptor.getX(), block)))
    return failure();
  RankedTensorType type = typeOf(adaptor.getX());
  ArrayRef<int64_t> x = type.getShape();
  for (int64_t axis : {2, 3})
    if (known(x[axis]) && x[axis] % block != 0)
      return infer.fail("dimension ", axis, " of 'x' is ", x[axis],
                        ", which is no multiple of 'blocksize' = ", block);
  types.push_back(RankedTensorType::get(
      {x[0], times(x[1], block * block), over(x[2], block), over(x[3], block)},
      type.getElementType()));
  return success();
}
