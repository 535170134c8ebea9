//===- InferNN.cpp - Types of convolutions, pools and norms ---------------===//

#include "graph/GraphNN.h"

using namespace mlir;
using namespace phl::graph;

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static LogicalResult checkConvOperands(Infer &infer, Value x, Value w, Value b,
                                       int64_t filters) {
  if (failed(infer.sameElementType("x", x, "w", w)))
    return failure();
  if (!b)
    return success();
  return success(succeeded(infer.sameElementType("b", b, "x", x)) &&
                 succeeded(infer.vectorOf("b", b, filters, "one per filter")));
}

LogicalResult ConvOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  Window window{
      {}, adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations()};
  FailureOr<Shape> shape = convShape(infer, adaptor.getX(), adaptor.getW(),
                                     window, adaptor.getGroup());
  if (failed(shape) ||
      failed(checkConvOperands(infer, adaptor.getX(), adaptor.getW(),
                               adaptor.getB(), (*shape)[1])))
    return failure();
  types.push_back(
      RankedTensorType::get(*shape, typeOf(adaptor.getX()).getElementType()));
  return success();
}

static FailureOr<int64_t> transposedDim(Infer &infer, const Window &window,
                                        size_t i, int64_t input,
                                        int64_t outputPadding) {
  if (!known(input) || !known(window.extent(i)))
    return kDynamic;
  int64_t size = window.stride(i) * (input - 1) + outputPadding +
                 window.extent(i) - window.padBegin(i) - window.padEnd(i);
  if (size < 0)
    return infer.fail("'pads' cut more off spatial dimension ", i, " than the ",
                      size + window.padBegin(i) + window.padEnd(i),
                      " elements there are");
  return size;
}

LogicalResult ConvTransposeOp::inferTypes(Infer &infer, Adaptor adaptor,
                                          Types &types) {
  Value x = adaptor.getX(), w = adaptor.getW();
  if (failed(infer.rankAtLeast("x", x, 3)) ||
      failed(infer.rankIs("w", w, typeOf(x).getRank())))
    return failure();
  ArrayRef<int64_t> input = typeOf(x).getShape();
  ArrayRef<int64_t> filter = typeOf(w).getShape();
  int64_t group = adaptor.getGroup();
  if (group < 1)
    return infer.fail("'group' must be positive, but is ", group);
  if (!mayEqual(input[1], filter[0]))
    return infer.fail("'x' has ", input[1], " channels, but 'w' expects ",
                      filter[0]);
  int64_t channels = known(filter[0]) ? filter[0] : input[1];
  if (known(channels) && channels % group != 0)
    return infer.fail("'x' has ", channels,
                      " channels, which is no multiple of 'group' = ", group);
  size_t rank = input.size() - 2;
  Window window{filter.drop_front(2), adaptor.getStrides(), adaptor.getPads(),
                adaptor.getDilations()};
  ArrayRef<int64_t> extra = adaptor.getOutputPadding();
  if (!extra.empty() && extra.size() != rank)
    return infer.fail("'output_padding' must have ", rank,
                      " elements, but has ", extra.size());
  if (failed(checkWindow(infer, window, rank)))
    return failure();

  Shape shape = {input[0], known(filter[1]) ? filter[1] * group : kDynamic};
  for (size_t i = 0; i < rank; ++i) {
    if (!extra.empty() && extra[i] < 0)
      return infer.fail("'output_padding' must not be negative, but holds ",
                        extra[i]);
    FailureOr<int64_t> dim = transposedDim(infer, window, i, input[i + 2],
                                           extra.empty() ? 0 : extra[i]);
    if (failed(dim))
      return failure();
    shape.push_back(*dim);
  }
  if (failed(checkConvOperands(infer, x, w, adaptor.getB(), shape[1])))
    return failure();
  types.push_back(RankedTensorType::get(shape, typeOf(x).getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

template <typename Adaptor>
static FailureOr<Shape> poolShape(Infer &infer, Adaptor adaptor) {
  Value x = adaptor.getX();
  if (failed(infer.rankAtLeast("x", x, 3)))
    return failure();
  ArrayRef<int64_t> input = typeOf(x).getShape();
  Window window{adaptor.getKernelShape(), adaptor.getStrides(),
                adaptor.getPads(), adaptor.getDilations(),
                adaptor.getCeilMode()};
  Shape shape = {input[0], input[1]};
  if (failed(checkWindow(infer, window, input.size() - 2)) ||
      failed(slideWindow(infer, window, input.drop_front(2), shape)))
    return failure();
  return shape;
}

template <typename Adaptor>
static LogicalResult inferPool(Infer &infer, Adaptor adaptor, Types &types) {
  FailureOr<Shape> shape = poolShape(infer, adaptor);
  if (failed(shape))
    return failure();
  types.push_back(
      RankedTensorType::get(*shape, typeOf(adaptor.getX()).getElementType()));
  return success();
}

LogicalResult MaxPoolOp::inferTypes(Infer &infer, Adaptor adaptor,
                                    Types &types) {
  return inferPool(infer, adaptor, types);
}

LogicalResult MaxPoolWithIndicesOp::inferTypes(Infer &infer, Adaptor adaptor,
                                               Types &types) {
  int64_t order = adaptor.getStorageOrder();
  if (order != 0 && order != 1)
    return infer.fail("'storage_order' must be 0 or 1, but is ", order);
  if (failed(inferPool(infer, adaptor, types)))
    return failure();
  types.push_back(cast<RankedTensorType>(types.back())
                      .clone(IntegerType::get(infer.context(), 64)));
  return success();
}

LogicalResult AveragePoolOp::inferTypes(Infer &infer, Adaptor adaptor,
                                        Types &types) {
  return inferPool(infer, adaptor, types);
}

static LogicalResult checkNorm(Infer &infer, int64_t p) {
  if (p < 1)
    return infer.fail("'p' must be positive, but is ", p);
  return success();
}

LogicalResult LpPoolOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  if (failed(checkNorm(infer, adaptor.getP())))
    return failure();
  return inferPool(infer, adaptor, types);
}

static LogicalResult inferGlobalPool(Infer &infer, Value x, Types &types) {
  if (failed(infer.rankAtLeast("x", x, 2)))
    return failure();
  Shape shape(typeOf(x).getShape());
  std::fill(shape.begin() + 2, shape.end(), 1);
  types.push_back(RankedTensorType::get(shape, typeOf(x).getElementType()));
  return success();
}

LogicalResult GlobalAveragePoolOp::inferTypes(Infer &infer, Adaptor adaptor,
                                              Types &types) {
  return inferGlobalPool(infer, adaptor.getX(), types);
}

LogicalResult GlobalMaxPoolOp::inferTypes(Infer &infer, Adaptor adaptor,
                                          Types &types) {
  return inferGlobalPool(infer, adaptor.getX(), types);
}

LogicalResult GlobalLpPoolOp::inferTypes(Infer &infer, Adaptor adaptor,
                                         Types &types) {
  if (failed(checkNorm(infer, adaptor.getP())))
    return failure();
  return inferGlobalPool(infer, adaptor.getX(), types);
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// The dimension 1 of x, or 1 where there is none (ONNX allows a rank of 1 for
/// a single channel).
static int64_t channels(Value x) {
  RankedTensorType type = typeOf(x);
  return type.getRank() < 2 ? 1 : type.getDimSize(1);
}

static LogicalResult perChannel(Infer &infer, Value x, StringRef name,
                                Value value) {
  return infer.vectorOf(name, value, channels(x), "one per channel of 'x'");
}

LogicalResult BatchNormOp::inferTypes(Infer &infer, Adaptor adaptor,
                                      Types &types) {
  Value x = adaptor.getX();
  if (failed(infer.rankAtLeast("x", x, 1)) ||
      failed(perChannel(infer, x, "scale", adaptor.getScale())) ||
      failed(perChannel(infer, x, "bias", adaptor.getBias())) ||
      failed(perChannel(infer, x, "mean", adaptor.getMean())) ||
      failed(perChannel(infer, x, "var", adaptor.getVar())))
    return failure();
  return inferLike(x, types);
}

LogicalResult InstanceNormOp::inferTypes(Infer &infer, Adaptor adaptor,
                                         Types &types) {
  Value x = adaptor.getX();
  if (failed(infer.rankAtLeast("x", x, 3)) ||
      failed(perChannel(infer, x, "scale", adaptor.getScale())) ||
      failed(perChannel(infer, x, "bias", adaptor.getBias())))
    return failure();
  return inferLike(x, types);
}

LogicalResult GroupNormOp::inferTypes(Infer &infer, Adaptor adaptor,
                                      Types &types) {
  Value x = adaptor.getX();
  int64_t groups = adaptor.getNumGroups();
  if (failed(infer.rankAtLeast("x", x, 2)))
    return failure();
  if (groups < 1 || (known(channels(x)) && channels(x) % groups != 0))
    return infer.fail("'num_groups' is ", groups,
                      ", which does not divide the ", dimText(channels(x)),
                      " channels of 'x'");
  if (failed(perChannel(infer, x, "scale", adaptor.getScale())) ||
      failed(perChannel(infer, x, "bias", adaptor.getBias())))
    return failure();
  return inferLike(x, types);
}

/// Checks what layer_norm and rms_norm share and gives the axis from 0.
static FailureOr<int64_t> checkTrailingNorm(Infer &infer, Value x, Value scale,
                                            Value bias, int64_t axis) {
  FailureOr<int64_t> normal = infer.axis(axis, typeOf(x).getRank());
  if (failed(normal) ||
      failed(infer.broadcastsTo("scale", typeOf(scale).getShape(),
                                typeOf(x).getShape())) ||
      (bias && failed(infer.broadcastsTo("bias", typeOf(bias).getShape(),
                                         typeOf(x).getShape()))))
    return failure();
  return normal;
}

LogicalResult LayerNormOp::inferTypes(Infer &infer, Adaptor adaptor,
                                      Types &types) {
  if (failed(checkTrailingNorm(infer, adaptor.getX(), adaptor.getScale(),
                               adaptor.getBias(), adaptor.getAxis())))
    return failure();
  return inferLike(adaptor.getX(), types);
}

LogicalResult LayerNormWithStatsOp::inferTypes(Infer &infer, Adaptor adaptor,
                                               Types &types) {
  FailureOr<int64_t> axis =
      checkTrailingNorm(infer, adaptor.getX(), adaptor.getScale(),
                        adaptor.getBias(), adaptor.getAxis());
  if (failed(axis) || failed(inferLike(adaptor.getX(), types)))
    return failure();
  Shape shape(typeOf(adaptor.getX()).getShape());
  std::fill(shape.begin() + *axis, shape.end(), 1);
  types.append(2,
               RankedTensorType::get(shape, Float32Type::get(infer.context())));
  return success();
}

LogicalResult RmsNormOp::inferTypes(Infer &infer, Adaptor adaptor,
                                    Types &types) {
  if (failed(checkTrailingNorm(infer, adaptor.getX(), adaptor.getScale(), {},
                               adaptor.getAxis())))
    return failure();
  types.push_back(
      RankedTensorType::get(typeOf(adaptor.getX()).getShape(),
                            typeOf(adaptor.getScale()).getElementType()));
  return success();
}

LogicalResult LrnOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  if (failed(infer.rankAtLeast("x", adaptor.getX(), 2)))
    return failure();
  if (static_cast<int64_t>(adaptor.getSize()) < 1)
    return infer.fail("'size' must be positive, but is ",
                      static_cast<int64_t>(adaptor.getSize()));
  return inferLike(adaptor.getX(), types);
}

LogicalResult MeanVarianceNormOp::inferTypes(Infer &infer, Adaptor adaptor,
                                             Types &types) {
  if (failed(infer.axes(adaptor.getAxes(), typeOf(adaptor.getX()).getRank())))
    return failure();
  return inferLike(adaptor.getX(), types);
}
