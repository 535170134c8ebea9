//===- Tir.cpp - C API of the tir dialect ------------------------*- C++
//-*-===//

#include "capi/Tir.h"
#include "tir/Tir.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace phl::tir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Tir, tir, phl::tir::TirDialect)

// The operations implement their interfaces themselves; what is missing is that
// a program which bufferizes them also needs the dialect of what they make.
void phlTirRegisterExternalModels(MlirDialectRegistry registry) {
  unwrap(registry)->insert<TirDialect>();
}

/// Makes an attribute with its verifier, so that bad values are a diagnostic.
template <typename AttrTy, typename... Args>
static MlirAttribute getChecked(MlirContext context, Args &&...args) {
  MLIRContext *owner = unwrap(context);
  owner->getOrLoadDialect<TirDialect>();
  Location loc = UnknownLoc::get(owner);
  return wrap(Attribute(AttrTy::getChecked(
      [&] { return emitError(loc); }, owner, std::forward<Args>(args)...)));
}

MlirAttribute phlTirSpaceAttrGet(MlirContext context, MlirStringRef name) {
  return getChecked<SpaceAttr>(context, unwrap(name));
}

MlirAttribute phlTirPoolAttrGet(MlirContext context, MlirStringRef name,
                                int64_t bytes, int64_t alignment) {
  return getChecked<PoolAttr>(context, unwrap(name), bytes, alignment);
}

MlirAttribute phlTirArgAttrGet(MlirContext context, PhlTirArgGroup group,
                               int64_t index, bool by_offset) {
  return getChecked<ArgAttr>(context, static_cast<ArgGroup>(group), index,
                             by_offset ? ArgMode::Offset : ArgMode::Value);
}

MlirAttribute phlTirNameAttrGet(MlirContext context, MlirStringRef value) {
  return getChecked<NameAttr>(context, unwrap(value));
}

MlirAttribute phlTirStructAttrGet(MlirContext context, MlirStringRef name,
                                  MlirAttribute fields) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(unwrap(fields));
  if (!dictionary) {
    emitError(UnknownLoc::get(unwrap(context)))
        << "the fields of a #tir.struct must be a dictionary";
    return wrap(Attribute());
  }
  return getChecked<StructAttr>(context, unwrap(name), dictionary);
}

PhlTirAttrKind phlTirAttrKind(MlirAttribute attribute) {
  Attribute value = unwrap(attribute);
  if (!value)
    return PHL_TIR_ATTR_OTHER;
  return llvm::TypeSwitch<Attribute, PhlTirAttrKind>(value)
      .Case<SpaceAttr>([](auto) { return PHL_TIR_ATTR_SPACE; })
      .Case<PoolAttr>([](auto) { return PHL_TIR_ATTR_POOL; })
      .Case<ArgAttr>([](auto) { return PHL_TIR_ATTR_ARG; })
      .Case<NameAttr>([](auto) { return PHL_TIR_ATTR_NAME; })
      .Case<StructAttr>([](auto) { return PHL_TIR_ATTR_STRUCT; })
      .Default([](Attribute) { return PHL_TIR_ATTR_OTHER; });
}

MlirStringRef phlTirAttrName(MlirAttribute attribute) {
  Attribute value = unwrap(attribute);
  if (!value)
    return wrap(StringRef());
  return wrap(llvm::TypeSwitch<Attribute, StringRef>(value)
                  .Case<SpaceAttr, PoolAttr, StructAttr>(
                      [](auto attr) { return attr.getName(); })
                  .Case<NameAttr>([](NameAttr attr) { return attr.getValue(); })
                  .Default([](Attribute) { return StringRef(); }));
}

int64_t phlTirPoolAttrBytes(MlirAttribute attribute) {
  auto pool = dyn_cast_or_null<PoolAttr>(unwrap(attribute));
  return pool ? pool.getBytes() : 0;
}

int64_t phlTirPoolAttrAlignment(MlirAttribute attribute) {
  auto pool = dyn_cast_or_null<PoolAttr>(unwrap(attribute));
  return pool ? pool.getAlignment() : 0;
}

PhlTirArgGroup phlTirArgAttrGroup(MlirAttribute attribute) {
  auto arg = dyn_cast_or_null<ArgAttr>(unwrap(attribute));
  return arg ? static_cast<PhlTirArgGroup>(arg.getGroup())
             : PHL_TIR_ARG_SCALARS;
}

int64_t phlTirArgAttrIndex(MlirAttribute attribute) {
  auto arg = dyn_cast_or_null<ArgAttr>(unwrap(attribute));
  return arg ? arg.getIndex() : -1;
}

bool phlTirArgAttrIsByOffset(MlirAttribute attribute) {
  auto arg = dyn_cast_or_null<ArgAttr>(unwrap(attribute));
  return arg && arg.getMode() == ArgMode::Offset;
}

MlirAttribute phlTirStructAttrFields(MlirAttribute attribute) {
  auto value = dyn_cast_or_null<StructAttr>(unwrap(attribute));
  return wrap(value ? Attribute(value.getFields()) : Attribute());
}

MlirType phlTirTokenTypeGet(MlirContext context) {
  unwrap(context)->getOrLoadDialect<TirDialect>();
  return wrap(TokenType::get(unwrap(context)));
}

bool phlTirTypeIsToken(MlirType type) {
  return isa_and_nonnull<TokenType>(unwrap(type));
}
