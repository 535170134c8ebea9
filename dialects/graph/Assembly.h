//===- Assembly.h - Custom parts of the assembly formats --------*- C++ -*-===//
//
// Types are written once where operands and results share one, and as a
// function type where they differ.
//
//===----------------------------------------------------------------------===//

#ifndef PHASELINE_GRAPH_ASSEMBLY_H
#define PHASELINE_GRAPH_ASSEMBLY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace phl::graph {

/// `T` if all types are T, else `(T, ...) -> T`.
mlir::ParseResult parseElementwiseTypes(mlir::OpAsmParser &parser,
                                        mlir::Type &x, mlir::Type &y);
mlir::ParseResult parseElementwiseTypes(mlir::OpAsmParser &parser,
                                        mlir::Type &a, mlir::Type &b,
                                        mlir::Type &y);
void printElementwiseTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                           mlir::Type x, mlir::Type y);
void printElementwiseTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                           mlir::Type a, mlir::Type b, mlir::Type y);

/// `T` if both operands have type T and the result is T with i1 elements.
mlir::ParseResult parseCompareTypes(mlir::OpAsmParser &parser, mlir::Type &a,
                                    mlir::Type &b, mlir::Type &y);
void printCompareTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       mlir::Type a, mlir::Type b, mlir::Type y);

/// `T to U`; the element type of U is the attribute `to`.
mlir::ParseResult parseCastTypes(mlir::OpAsmParser &parser, mlir::Type &x,
                                 mlir::Type &y, mlir::TypeAttr &to);
void printCastTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Type x, mlir::Type y, mlir::TypeAttr to);

/// The value, and ` as T` if the result has another type than it.
mlir::ParseResult parseConstantValue(mlir::OpAsmParser &parser,
                                     mlir::ElementsAttr &value, mlir::Type &y);
void printConstantValue(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        mlir::ElementsAttr value, mlir::Type y);

} // namespace phl::graph

#endif // PHASELINE_GRAPH_ASSEMBLY_H
