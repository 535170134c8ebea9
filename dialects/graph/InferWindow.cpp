//===- InferWindow.cpp - Shapes of convolutions and pools -----------------===//

#include "graph/GraphNN.h"
#include "graph/Infer.h"

using namespace mlir;

namespace phl::graph {

static LogicalResult checkList(Infer &infer, StringRef name,
                               ArrayRef<int64_t> values, size_t count,
                               int64_t least) {
  if (values.empty())
    return success();
  if (values.size() != count)
    return infer.fail("'", name, "' must have ", count, " elements, but has ",
                      values.size());
  for (int64_t value : values)
    if (value < least)
      return infer.fail("'", name, "' must not be less than ", least,
                        ", but holds ", value);
  return success();
}

LogicalResult checkWindow(Infer &infer, const Window &window, size_t rank) {
  if (window.kernel.size() != rank)
    return infer.fail("'kernel_shape' must have ", rank,
                      " elements, one per spatial dimension, but has ",
                      window.kernel.size());
  for (int64_t size : window.kernel)
    if (known(size) && size < 1)
      return infer.fail("the kernel must not be empty, but has size ", size);
  return success(
      succeeded(checkList(infer, "strides", window.strides, rank, 1)) &&
      succeeded(checkList(infer, "pads", window.pads, 2 * rank, 0)) &&
      succeeded(checkList(infer, "dilations", window.dilations, rank, 1)));
}

LogicalResult slideWindow(Infer &infer, const Window &window,
                          ArrayRef<int64_t> spatial, Shape &shape) {
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t extent = window.extent(i), stride = window.stride(i);
    if (!known(spatial[i]) || !known(extent)) {
      shape.push_back(kDynamic);
      continue;
    }
    int64_t padded = spatial[i] + window.padBegin(i) + window.padEnd(i);
    if (extent > padded)
      return infer.fail("the window covers ", extent,
                        " elements of spatial dimension ", i,
                        ", which has only ", padded, " with its padding");
    int64_t span = padded - extent;
    int64_t count = (window.ceilMode ? (span + stride - 1) : span) / stride + 1;
    // A last window that would see nothing but the padding at the far end.
    if (window.ceilMode &&
        (count - 1) * stride >= spatial[i] + window.padBegin(i))
      --count;
    shape.push_back(count);
  }
  return success();
}

FailureOr<Shape> convShape(Infer &infer, Value x, Value w, Window window,
                           int64_t group) {
  if (failed(infer.rankAtLeast("x", x, 3)) ||
      failed(infer.rankIs("w", w, typeOf(x).getRank())))
    return failure();
  ArrayRef<int64_t> input = typeOf(x).getShape();
  ArrayRef<int64_t> filter = typeOf(w).getShape();
  if (group < 1)
    return infer.fail("'group' must be positive, but is ", group);
  if (known(filter[1]) && !mayEqual(input[1], filter[1] * group))
    return infer.fail("'x' has ", input[1], " channels, but 'w' expects ",
                      filter[1] * group, ": ", filter[1], " for each of ",
                      group, " groups");
  if (known(filter[0]) && filter[0] % group != 0)
    return infer.fail("'w' has ", filter[0],
                      " filters, which is no multiple of 'group' = ", group);
  window.kernel = filter.drop_front(2);
  Shape shape = {input[0], filter[0]};
  if (failed(checkWindow(infer, window, input.size() - 2)) ||
      failed(slideWindow(infer, window, input.drop_front(2), shape)))
    return failure();
  return shape;
}

LogicalResult Col2ImOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  Value x = adaptor.getX();
  ArrayRef<int64_t> image = adaptor.getImageShape();
  Window window{adaptor.getKernelShape(), adaptor.getStrides(),
                adaptor.getPads(), adaptor.getDilations()};
  if (failed(infer.rankIs("x", x, 3)) ||
      failed(checkWindow(infer, window, image.size())))
    return failure();
  for (int64_t size : image)
    if (size < 1)
      return infer.fail("'image_shape' must be positive, but holds ", size);
  Shape counts;
  if (failed(slideWindow(infer, window, image, counts)))
    return failure();
  int64_t patches = 1, area = 1;
  for (auto [count, size] : llvm::zip_equal(counts, window.kernel)) {
    if (llvm::MulOverflow(patches, count, patches) ||
        llvm::MulOverflow(area, size, area))
      return infer.fail("the image has too many windows");
  }
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  if (!mayEqual(shape[2], patches))
    return infer.fail("'x' has ", shape[2], " patches, but ", patches,
                      " windows fit into the image");
  if (known(shape[1]) && shape[1] % area != 0)
    return infer.fail("'x' has ", shape[1],
                      " rows, which is no multiple of the ", area,
                      " elements of a window");
  Shape result = {shape[0], known(shape[1]) ? shape[1] / area : kDynamic};
  result.append(image.begin(), image.end());
  types.push_back(RankedTensorType::get(result, typeOf(x).getElementType()));
  return success();
}

} // namespace phl::graph
