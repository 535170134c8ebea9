//===- Structure.cpp - Assembly and verification of composites ------------===//

#include "graph/GraphStructure.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace phl::graph;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// `"name" target("target") (config {...})? (%arg = %operand, ...)
///  (attributes {...})? : (T, ...) -> (T, ...) { region }`
ParseResult CompositeOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseAttribute(properties.name) || parser.parseKeyword("target") ||
      parser.parseLParen() || parser.parseAttribute(properties.target) ||
      parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("config")) &&
      parser.parseAttribute(properties.config))
    return failure();

  SMLoc operandsLocation = parser.getCurrentLocation();
  FunctionType type;
  if (parser.parseAssignmentList(arguments, operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), operandsLocation,
                             result.operands))
    return failure();
  for (auto [argument, input] : llvm::zip_equal(arguments, type.getInputs()))
    argument.type = input;
  result.addTypes(type.getResults());
  return parser.parseRegion(*result.addRegion(), arguments);
}

void CompositeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << " target(" << getTargetAttr() << ')';
  if (DictionaryAttr config = getConfigAttr())
    printer << " config " << config;
  printer << " (";
  if (!getDecomposition().empty())
    llvm::interleaveComma(
        llvm::zip_first(getInputs(), getDecomposition().getArguments()),
        printer, [&](auto pair) {
          printer << std::get<1>(pair) << " = " << std::get<0>(pair);
        });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getNameAttrName(), getTargetAttrName(), getConfigAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << ' ';
  printer.printRegion(getDecomposition(), /*printEntryBlockArgs=*/false);
}

/// Names the results after the last part of the composite's name.
void CompositeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  StringRef name = getName().rsplit('.').second;
  if (!name.empty() && !getOutputs().empty())
    setName(getOutputs().front(), name);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// A region that computes what `op` stands for has its operands as arguments
/// and yields its results. `noun` is what messages call the operation.
static LogicalResult verifyDecomposition(Operation *op, Region &region,
                                         StringRef noun) {
  Block &block = region.front();
  if (block.getNumArguments() != op->getNumOperands())
    return op->emitOpError()
           << "has " << op->getNumOperands() << " operands, but its region has "
           << block.getNumArguments() << " arguments";
  for (auto [index, input, argument] :
       llvm::enumerate(op->getOperands(), block.getArguments()))
    if (input.getType() != argument.getType())
      return op->emitOpError()
             << "operand #" << index << " is " << input.getType()
             << ", but the argument of the region is " << argument.getType();

  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError() << "region must end with graph.yield";
  if (yield.getValues().size() != op->getNumResults())
    return yield.emitOpError()
           << "yields " << yield.getValues().size() << " values, but the "
           << noun << " has " << op->getNumResults() << " results";
  for (auto [index, value, output] :
       llvm::enumerate(yield.getValues(), op->getResults()))
    if (value.getType() != output.getType())
      return yield.emitOpError()
             << "value #" << index << " is " << value.getType()
             << ", but the result of the " << noun << " is "
             << output.getType();
  return success();
}

LogicalResult CompositeOp::verifyRegions() {
  return verifyDecomposition(*this, getDecomposition(), "composite");
}

LogicalResult CustomOp::verify() {
  if (getName().empty())
    return emitOpError() << "has no name";
  if (getGroups().empty())
    return success();
  int64_t count = 0;
  for (int64_t size : getGroups()) {
    if (size < 0 || size > static_cast<int64_t>(getInputs().size()))
      return emitOpError() << "has a group of " << size << " operands";
    count += size;
  }
  if (count != static_cast<int64_t>(getInputs().size()))
    return emitOpError() << "has groups of " << count << " operands, but "
                         << getInputs().size() << " operands";
  return success();
}

LogicalResult CustomOp::verifyRegions() {
  if (getReference().empty())
    return success();
  return verifyDecomposition(*this, getReference(), "operator");
}
