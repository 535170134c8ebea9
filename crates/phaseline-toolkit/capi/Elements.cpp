//===- Elements.cpp - C API for the data of elements attributes -----------===//

#include "capi/Elements.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

const void *phlElementsBytes(MlirAttribute attr, size_t *size) {
  *size = 0;
  Attribute value = unwrap(attr);
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value)) {
    *size = dense.getRawData().size();
    return dense.getRawData().data();
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return nullptr;
  *size = blob->getData().size();
  return blob->getData().data();
}

MlirAttribute phlElementsWithType(MlirAttribute attr, MlirType type) {
  Attribute value = unwrap(attr);
  auto shaped = cast<ShapedType>(unwrap(type));
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value))
    return wrap(
        DenseIntOrFPElementsAttr::getFromRawBuffer(shaped, dense.getRawData()));
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return wrap(
        DenseResourceElementsAttr::get(shaped, resource.getRawHandle()));
  return wrap(Attribute());
}

void phlOperationBlobs(MlirOperation op,
                       void (*note)(void *user, const void *data), void *user) {
  // The walker visits each attribute and type once.
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr attr) {
    if (AsmResourceBlob *blob = attr.getRawHandle().getBlob())
      note(user, blob->getData().data());
  });
  unwrap(op)->walk([&](Operation *inner) {
    for (NamedAttribute attr : inner->getAttrs())
      walker.walk(attr.getValue());
  });
}

void phlElementsFree(MlirAttribute attr) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(attr)))
    resource.getRawHandle().getResource()->setBlob(AsmResourceBlob());
}
