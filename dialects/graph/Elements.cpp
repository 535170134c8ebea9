//===- Elements.cpp - Reading and making constants ------------------------===//

#include "graph/Elements.h"
#include "graph/Fold.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir;

namespace phl::graph {

std::optional<int64_t> blobBytes(Type element, int64_t count) {
  if (!element.isIntOrFloat())
    return std::nullopt;
  unsigned width = element.getIntOrFloatBitWidth();
  // Booleans take a byte each; types of 2 or 4 bits have no settled layout.
  if (width == 1)
    return count;
  if (width % 8 != 0)
    return std::nullopt;
  return count * (width / 8);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::optional<ElementReader> ElementReader::get(Attribute value) {
  auto elements = dyn_cast_or_null<ElementsAttr>(value);
  if (!elements)
    return std::nullopt;
  ElementReader reader;
  reader.tensor = dyn_cast<RankedTensorType>(elements.getShapedType());
  if (!reader.tensor || !reader.tensor.hasStaticShape() ||
      !reader.elementType().isIntOrFloat() ||
      reader.elementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  reader.dense = dyn_cast<DenseElementsAttr>(value);
  if (reader.dense)
    return reader;
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  std::optional<int64_t> bytes = blobBytes(reader.elementType(), reader.size());
  if (!blob || !bytes || blob->getData().size() != static_cast<size_t>(*bytes))
    return std::nullopt;
  reader.blob = blob->getData();
  return reader;
}

APInt ElementReader::bits(int64_t i) const {
  if (dense) {
    i = dense.isSplat() ? 0 : i;
    return isFloat() ? dense.getValues<APFloat>()[i].bitcastToAPInt()
                     : dense.getValues<APInt>()[i];
  }
  unsigned width = elementType().getIntOrFloatBitWidth();
  unsigned bytes = (width + 7) / 8;
  uint64_t bits = 0;
  std::memcpy(&bits, blob.data() + i * bytes, bytes);
  return APInt(width, width == 1 ? bits != 0 : bits);
}

static int64_t extend(const APInt &value, Type element) {
  if (element.isUnsignedInteger() || element.isInteger(1))
    return static_cast<int64_t>(value.getZExtValue());
  return value.getSExtValue();
}

static double toDouble(APFloat value) {
  bool lossy;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return value.convertToDouble();
}

int64_t ElementReader::integer(int64_t i) const {
  return extend(bits(i), elementType());
}

double ElementReader::number(int64_t i) const {
  auto type = cast<FloatType>(elementType());
  return toDouble(APFloat(type.getFloatSemantics(), bits(i)));
}

std::optional<Int64s> integerElements(Attribute value, int64_t limit) {
  std::optional<ElementReader> reader = ElementReader::get(value);
  if (!reader || reader->isFloat() || reader->size() > limit)
    return std::nullopt;
  Int64s result;
  for (int64_t i = 0; i < reader->size(); ++i)
    result.push_back(reader->integer(i));
  return result;
}

std::optional<Doubles> floatElements(Attribute value, int64_t limit) {
  std::optional<ElementReader> reader = ElementReader::get(value);
  if (!reader || !reader->isFloat() || reader->size() > limit)
    return std::nullopt;
  Doubles result;
  for (int64_t i = 0; i < reader->size(); ++i)
    result.push_back(reader->number(i));
  return result;
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

static APInt toBits(int64_t value, unsigned width) {
  return APInt(width, static_cast<uint64_t>(value), /*isSigned=*/false,
               /*implicitTrunc=*/true);
}

int64_t wrapInteger(int64_t value, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  return width >= 64 ? value : extend(toBits(value, width), element);
}

static APFloat roundTo(double value, Type element) {
  APFloat result(value);
  bool lossy;
  result.convert(cast<FloatType>(element).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &lossy);
  return result;
}

DenseElementsAttr makeIntegers(RankedTensorType type,
                               ArrayRef<int64_t> values) {
  unsigned width = type.getElementTypeBitWidth();
  auto bits = llvm::map_to_vector(
      values, [&](int64_t value) { return toBits(value, width); });
  return DenseElementsAttr::get(type, bits);
}

DenseElementsAttr makeFloats(RankedTensorType type, ArrayRef<double> values) {
  auto numbers = llvm::map_to_vector(values, [&](double value) {
    return roundTo(value, type.getElementType());
  });
  return DenseElementsAttr::get(type, numbers);
}

DenseElementsAttr makeBits(RankedTensorType type, ArrayRef<APInt> values) {
  auto number = dyn_cast<FloatType>(type.getElementType());
  if (!number)
    return DenseElementsAttr::get(type, values);
  auto numbers = llvm::map_to_vector(values, [&](const APInt &bits) {
    return APFloat(number.getFloatSemantics(), bits);
  });
  return DenseElementsAttr::get(type, numbers);
}

ElementsAttr reshapeConstant(Attribute value, ArrayRef<int64_t> shape) {
  auto elements = dyn_cast_or_null<ElementsAttr>(value);
  if (!elements)
    return {};
  auto type = RankedTensorType::get(shape, elements.getElementType());
  if (!type.hasStaticShape() ||
      type.getNumElements() != elements.getNumElements())
    return {};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || (!dense.isSplat() && type.getNumElements() > kFoldLimit))
    return {};
  return dense.reshape(type);
}

} // namespace phl::graph
