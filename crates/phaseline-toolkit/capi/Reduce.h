//===- Reduce.h - C API of edits that reduce IR -----------------*- C -*-===//
//
// Edits by the interfaces of functions, calls, branches and regions. They leave
// IR that the caller verifies.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_REDUCE_H
#define PHL_CAPI_REDUCE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Gives the text of a module without locations. False for one that is not
/// valid, or not read again, and for one on which a verifier or a printer
/// crashes. The context has no threads.
MLIR_CAPI_EXPORTED bool phlCheckAndPrint(MlirOperation op,
                                         MlirStringCallback append, void *user);

/// True if values around `op` are not visible in its regions.
MLIR_CAPI_EXPORTED bool phlIsIsolated(MlirOperation op);
/// True if `op` is the last of a block that needs a terminator.
MLIR_CAPI_EXPORTED bool phlIsEnd(MlirOperation op);

/// Gives the numbers of arguments and results of a function. False for other
/// operations, and for one that is not valid.
MLIR_CAPI_EXPORTED bool phlFunction(MlirOperation op, intptr_t *arguments,
                                    intptr_t *results);
/// Makes a function a private declaration. False for other operations.
MLIR_CAPI_EXPORTED bool phlFunctionDropBody(MlirOperation op);
/// Erases an argument of a function. False where it is used, or the type needs
/// it.
MLIR_CAPI_EXPORTED bool phlFunctionEraseArgument(MlirOperation op,
                                                 intptr_t index);
/// Erases a result of a function, and the operand of each return. False where
/// the type needs it.
MLIR_CAPI_EXPORTED bool phlFunctionEraseResult(MlirOperation op,
                                               intptr_t index);
/// Erases an operand that a call gives on.
MLIR_CAPI_EXPORTED bool phlCallEraseArgument(MlirOperation op, intptr_t index);
/// Erases the operand of a branch that is an argument of a block.
MLIR_CAPI_EXPORTED bool
phlBranchEraseOperand(MlirOperation op, intptr_t successor, intptr_t index);

/// Erases an operand of an operation that may be without it, as far as the
/// number of operands of each name goes.
MLIR_CAPI_EXPORTED bool phlEraseOperand(MlirOperation op, intptr_t index);

/// Told of a value that takes another one.
typedef void (*PhlPairCallback)(MlirValue to, MlirValue from, void *user);
/// Tells the arguments of a region, with the operands that `op` gives them.
/// False where the operation has no interface for that.
MLIR_CAPI_EXPORTED bool phlRegionInputs(MlirOperation op, intptr_t region,
                                        PhlPairCallback pair, void *user);
/// Tells the results of the operation around, with the operands of a terminator
/// that they are. False where it has no interface for that.
MLIR_CAPI_EXPORTED bool phlRegionOutputs(MlirOperation terminator,
                                         PhlPairCallback pair, void *user);

/// Removes an attribute of the operation's definition, or gives it its default
/// again, without which no printer does. False where there is none.
MLIR_CAPI_EXPORTED bool phlResetAttribute(MlirOperation op, MlirStringRef name);

/// A constant zero before `op`, of its dialect, of the type's, or of `arith`.
/// Null where none of them has it, and for `op` that is this constant.
MLIR_CAPI_EXPORTED MlirValue phlZero(MlirOperation op, MlirType type);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_REDUCE_H
