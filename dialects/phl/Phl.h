//===- Phl.h - The dialect of Phaseline's own attributes --------*- C++ -*-===//

#ifndef PHL_PHL_PHL_H
#define PHL_PHL_PHL_H

#include "mlir/IR/Dialect.h"

namespace phl {

/// Has no operations: it verifies the attributes `phl.*` that passes, hooks and
/// tools tell each other about IR with. Attributes.def lists them.
class PhlDialect : public mlir::Dialect {
public:
  explicit PhlDialect(mlir::MLIRContext *context);

  static llvm::StringRef getDialectNamespace() { return "phl"; }

  mlir::LogicalResult
  verifyOperationAttribute(mlir::Operation *op,
                           mlir::NamedAttribute attr) override;
  mlir::LogicalResult
  verifyRegionArgAttribute(mlir::Operation *op, unsigned region,
                           unsigned argument,
                           mlir::NamedAttribute attr) override;
  mlir::LogicalResult
  verifyRegionResultAttribute(mlir::Operation *op, unsigned region,
                              unsigned result,
                              mlir::NamedAttribute attr) override;
};

} // namespace phl

MLIR_DECLARE_EXPLICIT_TYPE_ID(phl::PhlDialect)

#endif // PHL_PHL_PHL_H
