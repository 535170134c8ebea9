//===- Assembly.cpp - Custom parts of the assembly formats ----------------===//

#include "graph/Assembly.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace phl::graph {

/// Parses `T` or a function type with one result and `inputs.size()` inputs.
/// Sets `single` if it was a T.
static ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> inputs,
                              Type &result, bool &single) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  single = !function;
  if (single) {
    for (Type *input : inputs)
      *input = type;
    result = type;
    return success();
  }
  if (function.getNumInputs() != inputs.size() || function.getNumResults() != 1)
    return parser.emitError(location)
           << "expected one type, or a function type with " << inputs.size()
           << " operand(s) and one result";
  for (auto [input, parsed] : llvm::zip_equal(inputs, function.getInputs()))
    *input = parsed;
  result = function.getResult(0);
  return success();
}

static void printTypes(OpAsmPrinter &printer, Operation *op, bool single) {
  if (single)
    printer << op->getOperand(0).getType();
  else
    printer.printFunctionalType(op);
}

ParseResult parseElementwiseTypes(OpAsmParser &parser, Type &x, Type &y) {
  bool single;
  return parseTypes(parser, {&x}, y, single);
}

ParseResult parseElementwiseTypes(OpAsmParser &parser, Type &a, Type &b,
                                  Type &y) {
  bool single;
  return parseTypes(parser, {&a, &b}, y, single);
}

void printElementwiseTypes(OpAsmPrinter &printer, Operation *op, Type x,
                           Type y) {
  printTypes(printer, op, x == y);
}

void printElementwiseTypes(OpAsmPrinter &printer, Operation *op, Type a, Type b,
                           Type y) {
  printTypes(printer, op, a == b && b == y);
}

/// `type` with i1 elements, or null if it is no ranked tensor.
static Type maskOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(IntegerType::get(type.getContext(), 1)) : Type();
}

ParseResult parseCompareTypes(OpAsmParser &parser, Type &a, Type &b, Type &y) {
  bool single;
  SMLoc location = parser.getCurrentLocation();
  if (parseTypes(parser, {&a, &b}, y, single))
    return failure();
  if (!single)
    return success();
  y = maskOf(a);
  if (!y)
    return parser.emitError(location) << "expected a ranked tensor type";
  return success();
}

void printCompareTypes(OpAsmPrinter &printer, Operation *op, Type a, Type b,
                       Type y) {
  printTypes(printer, op, a == b && y == maskOf(a));
}

ParseResult parseCastTypes(OpAsmParser &parser, Type &x, Type &y,
                           TypeAttr &to) {
  if (parser.parseType(x) || parser.parseKeyword("to"))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseType(y))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(y);
  if (!tensor)
    return parser.emitError(location) << "expected a ranked tensor type";
  to = TypeAttr::get(tensor.getElementType());
  return success();
}

void printCastTypes(OpAsmPrinter &printer, Operation *, Type x, Type y,
                    TypeAttr) {
  printer << x << " to " << y;
}

ParseResult parseConstantValue(OpAsmParser &parser, ElementsAttr &value,
                               Type &y) {
  if (parser.parseAttribute(value))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("as")))
    return parser.parseType(y);
  y = value.getType();
  return success();
}

void printConstantValue(OpAsmPrinter &printer, Operation *, ElementsAttr value,
                        Type y) {
  printer << value;
  if (value.getType() != y)
    printer << " as " << y;
}

} // namespace phl::graph
