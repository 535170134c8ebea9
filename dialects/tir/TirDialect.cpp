//===- TirDialect.cpp - Dialect, attributes and types of tir ----*- C++ -*-===//

#include "tir/Tir.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace phl::tir;

#include "tir/TirDialect.cpp.inc"
#include "tir/TirEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "tir/TirTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tir/TirAttrs.cpp.inc"

void TirDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tir/TirTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tir/TirAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tir/TirOps.cpp.inc"
      >();
}

bool phl::tir::isCIdentifier(StringRef text) {
  if (text.empty() || llvm::isDigit(text.front()))
    return false;
  return llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

LogicalResult TirDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  if (attr.getName() != kPoolsAttrName)
    return op->emitError() << "unknown attribute '" << attr.getName().getValue()
                           << "' of dialect tir; it has only '"
                           << kPoolsAttrName << "'";
  auto pools = dyn_cast<ArrayAttr>(attr.getValue());
  if (!pools)
    return op->emitError() << "'" << kPoolsAttrName
                           << "' must be an array of #tir.pool";
  llvm::StringSet<> names;
  for (Attribute element : pools) {
    auto pool = dyn_cast<PoolAttr>(element);
    if (!pool)
      return op->emitError()
             << "'" << kPoolsAttrName << "' must hold only #tir.pool, but has "
             << element;
    if (!names.insert(pool.getName()).second)
      return op->emitError() << "'" << kPoolsAttrName << "' declares pool \""
                             << pool.getName() << "\" twice";
  }
  return success();
}

LogicalResult SpaceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringRef name) {
  if (!isCIdentifier(name))
    return emitError() << "the name of a space must be an identifier, not \""
                       << name << "\"";
  return success();
}

LogicalResult PoolAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef name, int64_t bytes,
                               int64_t alignment) {
  if (!isCIdentifier(name))
    return emitError() << "the name of a pool must be an identifier, not \""
                       << name << "\"";
  if (bytes <= 0)
    return emitError() << "pool \"" << name
                       << "\" must have a positive size, not " << bytes;
  if (alignment <= 0 || !llvm::isPowerOf2_64(alignment))
    return emitError() << "the alignment of pool \"" << name
                       << "\" must be a power of two, not " << alignment;
  return success();
}

LogicalResult ArgAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArgGroup group, int64_t index, ArgMode mode) {
  if (index < 0)
    return emitError()
           << "the index of an argument must not be negative, but is " << index;
  if (group == ArgGroup::Scratch && index != 0)
    return emitError() << "a call has one scratch memory: write `scratch 0`";
  if (group == ArgGroup::Scalars && mode == ArgMode::Offset)
    return emitError() << "a scalar has no offset; only buffers do";
  return success();
}

LogicalResult NameAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef value) {
  if (!isCIdentifier(value))
    return emitError() << "\"" << value << "\" is not a C identifier";
  return success();
}

bool phl::tir::isCLiteral(Attribute attr) {
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return number.getType().isIndex() ||
           number.getType().getIntOrFloatBitWidth() <= 64;
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getType().isF32() || number.getType().isF64();
  return isa<NameAttr>(attr);
}

LogicalResult StrideAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArgGroup group, int64_t index, int64_t dim,
                                 Type type) {
  if (group != ArgGroup::Ins && group != ArgGroup::Outs)
    return emitError() << "a stride is that of one of ins or outs, not of "
                       << stringifyArgGroup(group);
  if (index < 0 || dim < 0)
    return emitError() << "operand " << index << " and dimension " << dim
                       << " of a stride count from 0";
  if (!type.isSignlessInteger() || type.getIntOrFloatBitWidth() > 64)
    return emitError() << "a stride is an integer of at most 64 bits, not "
                       << type;
  return success();
}

LogicalResult StructAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, DictionaryAttr fields) {
  StringRef tag = name;
  tag.consume_front("struct ");
  if (!isCIdentifier(tag))
    return emitError() << "\"" << name << "\" is not the name of a C type";
  if (fields.empty())
    return emitError() << "struct \"" << name << "\" needs at least one field";
  for (NamedAttribute field : fields) {
    // A name with dots is that of a field of a field.
    SmallVector<StringRef> path;
    field.getName().getValue().split(path, '.');
    if (!llvm::all_of(path, isCIdentifier))
      return emitError() << "field \"" << field.getName().getValue()
                         << "\" of struct \"" << name
                         << "\" is not a C identifier";
    Attribute value = field.getValue();
    auto array = dyn_cast<ArrayAttr>(value);
    bool valid =
        array ? llvm::all_of(array, isCLiteral)
              : isCLiteral(value) ||
                    isa<ArgAttr, StrideAttr, StructAttr, DenseI64ArrayAttr,
                        DenseI32ArrayAttr, DenseF32ArrayAttr>(value);
    if (!valid)
      return emitError() << "field \"" << field.getName().getValue()
                         << "\" of struct \"" << name
                         << "\" must be a number, an array of numbers, a "
                            "#tir.name, a #tir.arg or a #tir.struct, not "
                         << value;
  }
  return success();
}
