//===- Conversion.h - C API of dialect conversion ---------------*- C -*-===//
//
// MLIR's C API has none of it before LLVM 23, whose functions these follow:
// targets, type converters, conversion patterns, and their application.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_CONVERSION_H
#define PHL_CAPI_CONVERSION_H

#include "mlir-c/IR.h"
#include "mlir-c/Rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PhlConversionTarget {
  void *ptr;
} PhlConversionTarget;
typedef struct PhlTypeConverter {
  void *ptr;
} PhlTypeConverter;

/// Takes one type of a list.
typedef void (*PhlTypeCallback)(MlirType type, void *user);

/// An answer to a question that may be left to others.
typedef enum PhlAnswer {
  PHL_ANSWER_NONE = 0,
  PHL_ANSWER_YES = 1,
  PHL_ANSWER_NO = 2,
} PhlAnswer;

MLIR_CAPI_EXPORTED PhlConversionTarget
phlConversionTargetCreate(MlirContext context);
MLIR_CAPI_EXPORTED void phlConversionTargetDestroy(PhlConversionTarget target);
/// A name without a dot is a dialect, of which all operations are meant.
MLIR_CAPI_EXPORTED void phlConversionTargetAddLegal(PhlConversionTarget target,
                                                    MlirStringRef name);
MLIR_CAPI_EXPORTED void
phlConversionTargetAddIllegal(PhlConversionTarget target, MlirStringRef name);
/// Asks `legal` of operations of a name; of all that nothing else is said of if
/// the name is empty.
MLIR_CAPI_EXPORTED void
phlConversionTargetAddDynamic(PhlConversionTarget target, MlirStringRef name,
                              PhlAnswer (*legal)(MlirOperation op, void *user),
                              void *user);
/// The legality of an operation; none if the target says nothing of it.
MLIR_CAPI_EXPORTED PhlAnswer
phlConversionTargetIsLegal(PhlConversionTarget target, MlirOperation op);

MLIR_CAPI_EXPORTED PhlTypeConverter phlTypeConverterCreate(void);
MLIR_CAPI_EXPORTED void phlTypeConverterDestroy(PhlTypeConverter converter);
/// Adds a conversion, tried before those added earlier. It answers yes after it
/// pushed what a type becomes, no if the type cannot be converted.
MLIR_CAPI_EXPORTED void phlTypeConverterAddConversion(
    PhlTypeConverter converter,
    PhlAnswer (*convert)(MlirType type, PhlTypeCallback push, void *out,
                         void *user),
    void *user);
/// Adds a function that makes a value of a type of others, at a place: before
/// an operation, or at the end of a block where that is null.
MLIR_CAPI_EXPORTED void phlTypeConverterAddMaterialization(
    PhlTypeConverter converter,
    MlirValue (*make)(MlirRewriterBase rewriter, MlirBlock block,
                      MlirOperation before, MlirLocation location,
                      MlirType type, const MlirValue *inputs, intptr_t count,
                      void *user),
    void *user);
/// Pushes what a type becomes; false if it cannot be converted.
MLIR_CAPI_EXPORTED bool phlTypeConverterConvert(PhlTypeConverter converter,
                                                MlirType type,
                                                PhlTypeCallback push,
                                                void *out);
/// True if all types of operands and results stay as they are.
MLIR_CAPI_EXPORTED bool phlTypeConverterIsLegal(PhlTypeConverter converter,
                                                MlirOperation op);

/// Tries a pattern on an operation. Operand `i` is `sizes[i]` of the values.
typedef bool (*PhlConversionCallback)(MlirOperation op, const MlirValue *values,
                                      const intptr_t *sizes, intptr_t count,
                                      MlirRewriterBase rewriter, void *user);

/// Adds a pattern for operations of a name; of all where that is empty.
MLIR_CAPI_EXPORTED void
phlConversionPatternAdd(MlirRewritePatternSet patterns, MlirStringRef name,
                        unsigned benefit, MlirContext context,
                        PhlTypeConverter converter,
                        PhlConversionCallback rewrite, void *user);
/// Adds the patterns and the legality of functions, calls, returns and branches
/// with types of a converter. `functions` has the name of one kind of function.
MLIR_CAPI_EXPORTED void
phlConversionAddSignatures(MlirRewritePatternSet patterns,
                           PhlConversionTarget target,
                           PhlTypeConverter converter, MlirStringRef functions);
/// The same of the operations of scf.
MLIR_CAPI_EXPORTED void
phlConversionAddStructure(MlirRewritePatternSet patterns,
                          PhlConversionTarget target,
                          PhlTypeConverter converter);

/// Replaces an operation; result `i` is `sizes[i]` of the values.
MLIR_CAPI_EXPORTED void phlConversionReplace(MlirRewriterBase rewriter,
                                             MlirOperation op,
                                             const MlirValue *values,
                                             const intptr_t *sizes,
                                             intptr_t count);
MLIR_CAPI_EXPORTED void phlConversionErase(MlirRewriterBase rewriter,
                                           MlirOperation op);
/// Replaces an operation by the same with these operands, converted result
/// types and types of arguments. Null, after a reason, where that cannot be.
MLIR_CAPI_EXPORTED MlirOperation phlConversionRetype(
    MlirRewriterBase rewriter, PhlTypeConverter converter, MlirOperation op,
    const MlirValue *values, const intptr_t *sizes, intptr_t count,
    MlirStringCallback fault, void *user);
/// Moves the blocks of a region of `op` into the empty one of `to`, and
/// converts the types of their arguments. False where that cannot be.
MLIR_CAPI_EXPORTED bool
phlConversionMoveRegion(MlirRewriterBase rewriter, PhlTypeConverter converter,
                        MlirOperation op, MlirOperation to, intptr_t region);

/// Told of each error, and why MLIR did not try a pattern.
typedef void (*PhlConversionTell)(bool error, MlirLocation location,
                                  MlirStringRef text, void *user);

/// Converts what is in `op`. Takes what is in `patterns`.
MLIR_CAPI_EXPORTED bool phlConversionApply(MlirOperation op,
                                           PhlConversionTarget target,
                                           MlirRewritePatternSet patterns,
                                           bool full, PhlConversionTell tell,
                                           void *user);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_CONVERSION_H
