//===- Tir.h - C API of the tir dialect ----------------------------*- C
//-*-===//
//
// Registration of the dialect and constructors of its attributes and types.
// Constructors return a null attribute, after a diagnostic, for invalid values.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_TIR_H
#define PHL_CAPI_TIR_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Tir, tir);

/// Adds to `registry` what the operations of tir need beside their dialect.
void phlTirRegisterExternalModels(MlirDialectRegistry registry);

/// `#tir.space<"name">`.
MlirAttribute phlTirSpaceAttrGet(MlirContext context, MlirStringRef name);
/// `#tir.pool<"name", bytes, alignment>`.
MlirAttribute phlTirPoolAttrGet(MlirContext context, MlirStringRef name,
                                int64_t bytes, int64_t alignment);

/// Operand groups of `tir.call_extern` that `#tir.arg` can name.
typedef enum PhlTirArgGroup {
  PHL_TIR_ARG_SCALARS = 0,
  PHL_TIR_ARG_INS = 1,
  PHL_TIR_ARG_OUTS = 2,
  PHL_TIR_ARG_SCRATCH = 3,
} PhlTirArgGroup;

/// `#tir.arg<group index>`, or `#tir.arg<group index, offset>` if `by_offset`.
MlirAttribute phlTirArgAttrGet(MlirContext context, PhlTirArgGroup group,
                               int64_t index, bool by_offset);
/// `#tir.name<"value">`.
MlirAttribute phlTirNameAttrGet(MlirContext context, MlirStringRef value);
/// `#tir.struct<"name", fields>`; `fields` is a dictionary.
MlirAttribute phlTirStructAttrGet(MlirContext context, MlirStringRef name,
                                  MlirAttribute fields);

/// The kinds of attribute of the dialect, as `phlTirAttrKind` tells them apart.
typedef enum PhlTirAttrKind {
  PHL_TIR_ATTR_OTHER = 0,
  PHL_TIR_ATTR_SPACE = 1,
  PHL_TIR_ATTR_POOL = 2,
  PHL_TIR_ATTR_ARG = 3,
  PHL_TIR_ATTR_NAME = 4,
  PHL_TIR_ATTR_STRUCT = 5,
} PhlTirAttrKind;

/// Kind of `attribute`; OTHER if it is not of this dialect or null.
PhlTirAttrKind phlTirAttrKind(MlirAttribute attribute);
/// The name of a space, pool or struct, or the value of a name; empty for
/// others. The text lives as long as the context.
MlirStringRef phlTirAttrName(MlirAttribute attribute);
/// Size and alignment of a pool; 0 for others.
int64_t phlTirPoolAttrBytes(MlirAttribute attribute);
int64_t phlTirPoolAttrAlignment(MlirAttribute attribute);
/// Group, index and mode of a `#tir.arg`; SCALARS, -1 and false for others.
PhlTirArgGroup phlTirArgAttrGroup(MlirAttribute attribute);
int64_t phlTirArgAttrIndex(MlirAttribute attribute);
bool phlTirArgAttrIsByOffset(MlirAttribute attribute);
/// The dictionary of a `#tir.struct`; null for others.
MlirAttribute phlTirStructAttrFields(MlirAttribute attribute);

/// `!tir.token`.
MlirType phlTirTokenTypeGet(MlirContext context);
bool phlTirTypeIsToken(MlirType type);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_TIR_H
