//===- InferResize.cpp - Types of resampling ops --------------------------===//

#include "graph/Elements.h"
#include "graph/GraphData.h"
#include "graph/ShapeValues.h"

#include <cmath>

using namespace mlir;
using namespace phl::graph;

namespace {

/// The dimensions of x that a resize changes, and by what.
struct Resizing {
  ArrayRef<int64_t> input;
  Shape axes;
  Shape result;
};

} // namespace

/// A size that a float tells, or nothing if no dimension is that large.
static int64_t toDim(float size) {
  return size >= 0 && size < 0x1p62f ? static_cast<int64_t>(size) : kDynamic;
}

/// `floor(D * scale)`, in f32 as onnxruntime does it. With a region of interest
/// D is the part of the dimension that it covers.
static void applyScales(ArrayRef<double> scales, ArrayRef<double> roi,
                        Resizing &to) {
  for (auto [i, axis] : llvm::enumerate(to.axes)) {
    int64_t &dim = to.result[axis];
    if (!known(to.input[axis]))
      continue;
    float size = static_cast<float>(to.input[axis]);
    if (!roi.empty())
      size *= static_cast<float>(roi[i + to.axes.size()] - roi[i]);
    dim = toDim(std::floor(size * static_cast<float>(scales[i])));
  }
}

/// The sizes, or the greatest (least) shape of the same proportions that is
/// within (outside of) them.
static void applySizes(const Integers &sizes, StringRef policy, Resizing &to) {
  if (policy == "stretch") {
    for (auto [axis, size] : llvm::zip_equal(to.axes, sizes))
      to.result[axis] = size.value_or(kDynamic);
    return;
  }
  float scale = policy == "not_larger" ? HUGE_VALF : 0;
  for (auto [axis, size] : llvm::zip_equal(to.axes, sizes)) {
    if (!size || !known(to.input[axis]) || to.input[axis] == 0)
      return;
    float ratio =
        static_cast<float>(*size) / static_cast<float>(to.input[axis]);
    scale = policy == "not_larger" ? std::min(scale, ratio)
                                   : std::max(scale, ratio);
  }
  for (int64_t axis : to.axes)
    to.result[axis] =
        toDim(std::floor(scale * static_cast<float>(to.input[axis]) + 0.5f));
}

static LogicalResult checkResize(Infer &infer, ResizeOp::Adaptor adaptor,
                                 size_t count) {
  Value roi = adaptor.getRoi(), scales = adaptor.getScales();
  Value sizes = adaptor.getSizes();
  if (!scales == !sizes)
    return infer.fail("needs either 'scales' or 'sizes'",
                      scales ? ", but has both" : "");
  bool crops =
      adaptor.getCoordinateTransformationMode() == "tf_crop_and_resize";
  if (crops && !roi)
    return infer.fail("needs 'roi' for 'coordinate_transformation_mode' = "
                      "\"tf_crop_and_resize\"");
  if (!sizes && adaptor.getKeepAspectRatioPolicy() != "stretch")
    return infer.fail("'keep_aspect_ratio_policy' needs 'sizes'");
  if (roi && crops &&
      failed(infer.vectorOf("roi", roi, 2 * count, "two per axis")))
    return failure();
  return scales ? infer.vectorOf("scales", scales, count, "one per axis")
                : infer.vectorOf("sizes", sizes, count, "one per axis");
}

LogicalResult ResizeOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  FailureOr<Shape> axes = infer.axes(adaptor.getAxes(), type.getRank());
  if (failed(axes))
    return failure();
  if (axes->empty())
    for (int64_t i = 0; i < type.getRank(); ++i)
      axes->push_back(i);
  if (failed(checkResize(infer, adaptor, axes->size())))
    return failure();

  Resizing to{type.getShape(), *axes, Shape(type.getShape())};
  for (int64_t axis : to.axes)
    to.result[axis] = kDynamic;
  int64_t count = axes->size();
  if (adaptor.getScales()) {
    auto scales = floatElements(constantOf(adaptor.getScales()), count);
    for (double scale : scales.value_or(SmallVector<double>()))
      if (!(scale > 0))
        return infer.fail("'scales' must be positive, but holds ", scale);
    bool crops =
        adaptor.getCoordinateTransformationMode() == "tf_crop_and_resize";
    auto roi = crops ? floatElements(constantOf(adaptor.getRoi()), 2 * count)
                     : SmallVector<double>();
    if (scales && static_cast<int64_t>(scales->size()) == count && roi)
      applyScales(*scales, *roi, to);
  } else if (auto sizes = knownIntegers(adaptor.getSizes());
             sizes && static_cast<int64_t>(sizes->size()) == count) {
    for (std::optional<int64_t> size : *sizes)
      if (size && *size < 0)
        return infer.fail("'sizes' must not be negative, but holds ", *size);
    applySizes(*sizes, adaptor.getKeepAspectRatioPolicy(), to);
  }
  types.push_back(RankedTensorType::get(to.result, type.getElementType()));
  return success();
}

LogicalResult GridSampleOp::inferTypes(Infer &infer, Adaptor adaptor,
                                       Types &types) {
  RankedTensorType x = typeOf(adaptor.getX());
  RankedTensorType grid = typeOf(adaptor.getGrid());
  if (failed(infer.rankAtLeast("x", adaptor.getX(), 3)) ||
      failed(infer.rankIs("grid", adaptor.getGrid(), x.getRank())))
    return failure();
  int64_t spatial = x.getRank() - 2;
  if (!mayEqual(grid.getShape().back(), spatial))
    return infer.fail("the last dimension of 'grid' must be ", spatial,
                      ", one coordinate per spatial dimension, but is ",
                      grid.getShape().back());
  if (!mayEqual(x.getDimSize(0), grid.getDimSize(0)))
    return infer.fail("'x' has a batch of ", x.getDimSize(0),
                      ", but 'grid' one of ", grid.getDimSize(0));
  Shape shape = {known(x.getDimSize(0)) ? x.getDimSize(0) : grid.getDimSize(0),
                 x.getDimSize(1)};
  shape.append(Shape(grid.getShape().drop_front().drop_back()));
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

LogicalResult RoiAlignOp::inferTypes(Infer &infer, Adaptor adaptor,
                                     Types &types) {
  Value x = adaptor.getX(), rois = adaptor.getRois();
  if (failed(infer.rankIs("x", x, 4)) ||
      failed(infer.rankIs("rois", rois, 2)) ||
      failed(infer.rankIs("batch", adaptor.getBatch(), 1)) ||
      failed(infer.sameElementType("rois", rois, "x", x)))
    return failure();
  int64_t count = typeOf(rois).getDimSize(0);
  int64_t batch = typeOf(adaptor.getBatch()).getDimSize(0);
  if (!mayEqual(typeOf(rois).getDimSize(1), 4))
    return infer.fail("a row of 'rois' must hold 4 numbers, but holds ",
                      typeOf(rois).getDimSize(1));
  if (!mayEqual(count, batch))
    return infer.fail("'rois' has ", count, " regions, but 'batch' ", batch);
  int64_t height = adaptor.getOutputHeight(), width = adaptor.getOutputWidth();
  if (height < 1 || width < 1)
    return infer.fail("'output_height' and 'output_width' must be positive, "
                      "but are ",
                      height, " and ", width);
  // A bin takes the square of it.
  constexpr int64_t most = 1024;
  if (adaptor.getSamplingRatio() < 0 || adaptor.getSamplingRatio() > most)
    return infer.fail("'sampling_ratio' must be from 0 to ", most, ", but is ",
                      adaptor.getSamplingRatio());
  types.push_back(RankedTensorType::get(
      {known(count) ? count : batch, typeOf(x).getDimSize(1), height, width},
      typeOf(x).getElementType()));
  return success();
}
