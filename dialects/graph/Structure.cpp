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

LogicalResult CompositeOp::verifyRegions() {
  Block &block = getDecomposition().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInputs().size()
                         << " operands, but its region has "
                         << block.getNumArguments() << " arguments";
  for (auto [index, input, argument] :
       llvm::enumerate(getInputs(), block.getArguments()))
    if (input.getType() != argument.getType())
      return emitOpError() << "operand #" << index << " is " << input.getType()
                           << ", but the argument of the region is "
                           << argument.getType();

  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError() << "region must end with graph.yield";
  if (yield.getValues().size() != getOutputs().size())
    return yield.emitOpError() << "yields " << yield.getValues().size()
                               << " values, but the composite has "
                               << getOutputs().size() << " results";
  for (auto [index, value, output] :
       llvm::enumerate(yield.getValues(), getOutputs()))
    if (value.getType() != output.getType())
      return yield.emitOpError()
             << "value #" << index << " is " << value.getType()
             << ", but the result of the composite is " << output.getType();
  return success();
}
