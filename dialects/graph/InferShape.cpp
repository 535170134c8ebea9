//===- InferShape.cpp - Types of constants and ops on shapes --------------===//

#include "graph/Elements.h"
#include "graph/GraphShape.h"
#include "graph/ShapeValues.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace phl::graph;

using llvm::MulOverflow;

/// The elements of a list of sizes, one per dimension of the result. Their
/// number is the rank, which must be known.
static FailureOr<Integers> sizes(Infer &infer, StringRef name, Value value) {
  std::optional<Integers> result = knownIntegers(value);
  if (!result)
    return infer.fail("'", name, "' is ", value.getType(),
                      ", so that the rank of the result is unknown; it must "
                      "have a static number of elements");
  return *result;
}

static LogicalResult push(Infer &infer, Types &types, const Shape &shape,
                          Type element) {
  int64_t count = 1;
  bool empty = llvm::is_contained(shape, 0);
  for (int64_t dim : shape)
    if (known(dim) && !empty && MulOverflow(count, dim, count))
      return infer.fail("the result has more elements than 64 bits can count");
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

static IntegerType i64(Infer &infer) {
  return IntegerType::get(infer.context(), 64);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferTypes(Infer &infer, Adaptor adaptor,
                                     Types &types) {
  ElementsAttr value = adaptor.getValue();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return infer.fail(
        "'value' must be a ranked tensor of static shape, but is ",
        value.getType());
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!isa<DenseElementsAttr>(value) && !resource)
    return infer.fail("'value' must be dense or dense_resource");
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  std::optional<int64_t> bytes =
      blobBytes(type.getElementType(), type.getNumElements());
  // A blob may be missing: it was elided when the text was printed.
  if (blob && bytes && blob->getData().size() != static_cast<size_t>(*bytes))
    return infer.fail("resource '", resource.getRawHandle().getKey(), "' has ",
                      blob->getData().size(), " bytes, but ", type, " takes ",
                      *bytes);
  types.push_back(type);
  return success();
}

LogicalResult ConstantOfShapeOp::inferTypes(Infer &infer, Adaptor adaptor,
                                            Types &types) {
  ElementsAttr value = adaptor.getValue();
  if (!value.getShapedType().hasStaticShape() || value.getNumElements() != 1)
    return infer.fail("'value' must have one element, but is ",
                      value.getType());
  FailureOr<Integers> dims = sizes(infer, "shape", adaptor.getShape());
  if (failed(dims))
    return failure();
  Shape shape;
  for (std::optional<int64_t> dim : *dims) {
    if (dim && *dim < 0)
      return infer.fail("'shape' must not hold negative sizes, but holds ",
                        *dim);
    shape.push_back(dim.value_or(kDynamic));
  }
  return push(infer, types, shape, value.getElementType());
}

LogicalResult EyeLikeOp::inferTypes(Infer &infer, Adaptor adaptor,
                                    Types &types) {
  if (failed(infer.rankIs("x", adaptor.getX(), 2)))
    return failure();
  RankedTensorType type = typeOf(adaptor.getX());
  Type element = adaptor.getTo().value_or(type.getElementType());
  if (!isa<IntegerType, FloatType>(element))
    return infer.fail("'to' must be an element type of tensors, but is ",
                      element);
  types.push_back(RankedTensorType::get(type.getShape(), element));
  return success();
}

/// The number of elements of a range, if its operands are constants.
static int64_t rangeLength(Value start, Value limit, Value delta) {
  Attribute values[] = {constantOf(start), constantOf(limit),
                        constantOf(delta)};
  SmallVector<double, 3> numbers;
  for (Attribute value : values)
    if (auto elements = floatElements(value, 1); elements && elements->size())
      numbers.push_back(elements->front());
  if (numbers.size() == 3 && numbers[2] != 0) {
    double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
    return count < 0x1p62 && count > 0 ? static_cast<int64_t>(count)
           : count <= 0                ? 0
                                       : kDynamic;
  }
  auto first = knownInteger(start), last = knownInteger(limit);
  auto step = knownInteger(delta);
  int64_t span;
  if (!first || !last || !step || *step == 0 ||
      llvm::SubOverflow(*last, *first, span))
    return kDynamic;
  if (span == 0 || (span > 0) != (*step > 0))
    return 0;
  // Both have one sign, so that the quotient rounds down; only the least number
  // divided by -1 overflows, which SubOverflow does not let through often.
  if (span == std::numeric_limits<int64_t>::min())
    return kDynamic;
  return span / *step + (span % *step != 0);
}

LogicalResult RangeOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  Value start = adaptor.getStart(), limit = adaptor.getLimit();
  Value delta = adaptor.getDelta();
  if (failed(infer.oneElement("start", start)) ||
      failed(infer.oneElement("limit", limit)) ||
      failed(infer.oneElement("delta", delta)) ||
      failed(infer.sameElementType("limit", limit, "start", start)) ||
      failed(infer.sameElementType("delta", delta, "start", start)))
    return failure();
  if (knownInteger(delta) == 0)
    return infer.fail("'delta' must not be 0");
  return push(infer, types, {rangeLength(start, limit, delta)},
              typeOf(start).getElementType());
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

LogicalResult ShapeOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  auto [first, last] = shapeRange(adaptor.getStart(), adaptor.getEnd(),
                                  typeOf(adaptor.getX()).getRank());
  types.push_back(RankedTensorType::get({last - first}, i64(infer)));
  return success();
}

LogicalResult SizeOp::inferTypes(Infer &infer, Adaptor, Types &types) {
  types.push_back(RankedTensorType::get({}, i64(infer)));
  return success();
}

//===----------------------------------------------------------------------===//
// Reshaping
//===----------------------------------------------------------------------===//

/// Replaces the sizes 0 of a reshape by the dimensions they stand for, and
/// unknown sizes by unknown dimensions. Leaves -1. Marks the input dimensions
/// that were copied.
static LogicalResult copyZeros(Infer &infer, const Integers &sizes,
                               ArrayRef<int64_t> input, bool allowZero,
                               Shape &shape, SmallVectorImpl<bool> &copied) {
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (!size) {
      shape.push_back(kDynamic);
    } else if (*size < -1) {
      return infer.fail("'shape' must not hold sizes less than -1, but holds ",
                        *size);
    } else if (*size == 0 && !allowZero) {
      if (i >= input.size())
        return infer.fail("'shape' holds 0 at position ", i,
                          ", but 'x' has rank ", input.size());
      shape.push_back(input[i]);
      copied[i] = true;
    } else {
      shape.push_back(*size);
    }
  }
  return success();
}

/// The size for -1, or nothing if that is not known: dimensions of the input
/// that are not known must all have been copied.
static std::optional<int64_t> remaining(ArrayRef<int64_t> input,
                                        ArrayRef<bool> copied,
                                        ArrayRef<int64_t> shape,
                                        const Integers &sizes, bool &divides) {
  int64_t total = 1, rest = 1;
  for (auto [i, dim] : llvm::enumerate(input)) {
    if (known(dim) ? MulOverflow(total, dim, total) : !copied[i])
      return std::nullopt;
  }
  for (auto [i, dim] : llvm::enumerate(shape)) {
    bool isCopy = sizes[i] == 0 && i < copied.size() && copied[i];
    if (dim == -1 || (!known(dim) && isCopy))
      continue;
    if (!known(dim) || MulOverflow(rest, dim, rest))
      return std::nullopt;
  }
  // With an empty tensor any size would do.
  if (rest == 0)
    return std::nullopt;
  divides = total % rest == 0;
  return total / rest;
}

LogicalResult ReshapeOp::inferTypes(Infer &infer, Adaptor adaptor,
                                    Types &types) {
  FailureOr<Integers> dims = sizes(infer, "shape", adaptor.getShape());
  if (failed(dims))
    return failure();
  RankedTensorType type = typeOf(adaptor.getX());
  ArrayRef<int64_t> input = type.getShape();
  Shape shape;
  SmallVector<bool> copied(input.size(), false);
  if (failed(copyZeros(infer, *dims, input, adaptor.getAllowzero(), shape,
                       copied)))
    return failure();

  auto *rest = llvm::find(shape, -1);
  if (rest != shape.end()) {
    if (std::count(rest, shape.end(), -1) > 1)
      return infer.fail("'shape' holds -1 more than once");
    bool divides = true;
    std::optional<int64_t> size =
        remaining(input, copied, shape, *dims, divides);
    if (!divides)
      return infer.fail("the ", type.getNumElements(), " elements of ", type,
                        " do not divide evenly among the sizes in 'shape'");
    *rest = size.value_or(kDynamic);
  }
  if (failed(push(infer, types, shape, type.getElementType())))
    return failure();
  auto result = cast<RankedTensorType>(types.back());
  if (type.hasStaticShape() && result.hasStaticShape() &&
      type.getNumElements() != result.getNumElements())
    return infer.fail("cannot reshape the ", type.getNumElements(),
                      " elements of ", type, " to ", result);
  return success();
}

LogicalResult FlattenOp::inferTypes(Infer &infer, Adaptor adaptor,
                                    Types &types) {
  ArrayRef<int64_t> input = typeOf(adaptor.getX()).getShape();
  int64_t rank = input.size(), axis = adaptor.getAxis();
  // Unlike elsewhere, the axis may also be the rank.
  if (axis < -rank || axis > rank)
    return infer.fail("'axis' is ", axis, ", but must be from ", -rank, " to ",
                      rank);
  axis = axis < 0 ? axis + rank : axis;
  auto product = [](ArrayRef<int64_t> dims) {
    int64_t result = 1;
    if (llvm::is_contained(dims, 0))
      return static_cast<int64_t>(0);
    for (int64_t dim : dims)
      if (!known(dim) || MulOverflow(result, dim, result))
        return kDynamic;
    return result;
  };
  return push(
      infer, types,
      {product(input.take_front(axis)), product(input.drop_front(axis))},
      typeOf(adaptor.getX()).getElementType());
}

LogicalResult SqueezeOp::inferTypes(Infer &infer, Adaptor adaptor,
                                    Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  FailureOr<Shape> axes = infer.axes(adaptor.getAxes(), type.getRank());
  if (failed(axes))
    return failure();
  Shape shape;
  for (auto [i, dim] : llvm::enumerate(type.getShape())) {
    if (!llvm::is_contained(*axes, i))
      shape.push_back(dim);
    else if (!mayEqual(dim, 1))
      return infer.fail("cannot squeeze axis ", i, " of ", type,
                        ", which has size ", dim);
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult UnsqueezeOp::inferTypes(Infer &infer, Adaptor adaptor,
                                      Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  int64_t rank = type.getRank() + adaptor.getAxes().size();
  FailureOr<Shape> axes = infer.axes(adaptor.getAxes(), rank);
  if (failed(axes))
    return failure();
  Shape shape;
  const int64_t *next = type.getShape().begin();
  for (int64_t i = 0; i < rank; ++i)
    shape.push_back(llvm::is_contained(*axes, i) ? 1 : *next++);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult TransposeOp::inferTypes(Infer &infer, Adaptor adaptor,
                                      Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  ArrayRef<int64_t> perm = adaptor.getPerm();
  if (static_cast<int64_t>(perm.size()) != type.getRank())
    return infer.fail("'perm' must have ", type.getRank(),
                      " elements, the rank of 'x', but has ", perm.size());
  Shape shape;
  SmallVector<bool> seen(perm.size(), false);
  for (int64_t source : perm) {
    if (source < 0 || source >= type.getRank() || seen[source])
      return infer.fail("'perm' must hold each of 0 to ", type.getRank() - 1,
                        " once, but holds ", source,
                        source >= 0 && source < type.getRank() ? " twice" : "");
    seen[source] = true;
    shape.push_back(type.getDimSize(source));
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

/// The elements that a tensor of a shape has in blocks; fails if the parts are
/// not all of its dimensions.
static FailureOr<int64_t> packedElements(Infer &infer, ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> dims,
                                         ArrayRef<int64_t> blocks,
                                         ArrayRef<int64_t> inner) {
  int64_t rank = shape.size();
  if (dims.size() != blocks.size())
    return infer.fail("'dims' has ", dims.size(), " parts, and 'blocks' ",
                      blocks.size());
  for (int64_t part : inner)
    if (part < 0 || part >= static_cast<int64_t>(dims.size()))
      return infer.fail("'inner' holds ", part, ", which is none of the ",
                        dims.size(), " parts");
  // Bytes of 1 for the number of the block, 2 for the place in it.
  SmallVector<int64_t> seen(rank, 0), block(rank, 1);
  int64_t elements = 1;
  for (auto [part, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= rank)
      return infer.fail("'dims' must hold 0 to ", rank - 1, ", but holds ",
                        dim);
    bool isInner = llvm::is_contained(inner, static_cast<int64_t>(part));
    if (blocks[part] < 1 || (seen[dim] && block[dim] != blocks[part]) ||
        (seen[dim] & (isInner ? 2 : 1)))
      return infer.fail("dimension ", dim,
                        " must be one part, or blocks and places in them of "
                        "one size");
    seen[dim] |= isInner ? 2 : 1;
    block[dim] = blocks[part];
    int64_t size = ShapedType::isDynamic(shape[dim]) ? 0 : shape[dim];
    elements *=
        isInner ? blocks[part] : (size + blocks[part] - 1) / blocks[part];
  }
  for (auto [dim, parts] : llvm::enumerate(seen))
    if (parts != (block[dim] > 1 ? 3 : 1) && parts != 3)
      return infer.fail("dimension ", dim,
                        " must be one part, or blocks and places in them of "
                        "one size");
  return elements;
}

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

LogicalResult PackOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  if (!type.hasStaticShape())
    return infer.fail("'x' must have a static shape");
  FailureOr<int64_t> elements =
      packedElements(infer, type.getShape(), adaptor.getDims(),
                     adaptor.getBlocks(), adaptor.getInner());
  if (failed(elements))
    return failure();
  ArrayRef<int64_t> shape = adaptor.getShape();
  if (elementsOf(shape) != *elements)
    return infer.fail("'shape' has ", elementsOf(shape),
                      " elements, and the parts ", *elements);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult UnpackOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  if (!type.hasStaticShape())
    return infer.fail("'x' must have a static shape");
  FailureOr<int64_t> elements =
      packedElements(infer, adaptor.getShape(), adaptor.getDims(),
                     adaptor.getBlocks(), adaptor.getInner());
  if (failed(elements))
    return failure();
  if (type.getNumElements() != *elements)
    return infer.fail("'x' has ", type.getNumElements(),
                      " elements, and the parts ", *elements);
  types.push_back(
      RankedTensorType::get(adaptor.getShape(), type.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Repeating
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  FailureOr<Integers> dims = sizes(infer, "shape", adaptor.getShape());
  if (failed(dims))
    return failure();
  Shape target;
  for (std::optional<int64_t> dim : *dims) {
    if (dim && *dim < 0)
      return infer.fail("'shape' must not hold negative sizes, but holds ",
                        *dim);
    target.push_back(dim.value_or(kDynamic));
  }
  RankedTensorType type = typeOf(adaptor.getX());
  FailureOr<Shape> shape = infer.broadcast(type.getShape(), target);
  if (failed(shape))
    return failure();
  return push(infer, types, *shape, type.getElementType());
}

LogicalResult TileOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  if (failed(infer.vectorOf("repeats", adaptor.getRepeats(), type.getRank(),
                            "the rank of 'x'")))
    return failure();
  Integers repeats =
      knownIntegers(adaptor.getRepeats()).value_or(Integers(type.getRank()));
  Shape shape;
  for (auto [dim, count] : llvm::zip_equal(type.getShape(), repeats)) {
    if (count && *count < 0)
      return infer.fail("'repeats' must not be negative, but holds ", *count);
    int64_t size = kDynamic;
    if (count == 0 || dim == 0)
      size = 0;
    else if (count && known(dim) && MulOverflow(dim, *count, size))
      return infer.fail("the result has more elements than 64 bits can count");
    shape.push_back(size);
  }
  return push(infer, types, shape, type.getElementType());
}
