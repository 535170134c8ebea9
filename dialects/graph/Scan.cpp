//===- Scan.cpp - Assembly and types of loops -----------------------------===//

#include "graph/GraphStructure.h"

#include "graph/Infer.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace phl::graph;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

using Arguments = SmallVector<OpAsmParser::Argument>;
using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

/// Slice of a sequence in one step: all dimensions but one.
static RankedTensorType sliceType(RankedTensorType type, int64_t axis) {
  Shape shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return RankedTensorType::get(shape, type.getElementType());
}

static ParseResult parseGroup(OpAsmParser &parser, StringRef keyword,
                              Arguments &arguments, Operands &operands,
                              int32_t &count) {
  size_t before = operands.size();
  if (parser.parseKeyword(keyword) ||
      parser.parseAssignmentList(arguments, operands))
    return failure();
  count = operands.size() - before;
  return success();
}

/// `(steps | ?) (limit %operand)? states (%arg = %operand, ...) sequences (...)
/// captures (...)
///  (attributes {...})? : (T, ...) -> (T, ...) { region }`
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  Arguments arguments;
  Operands operands;
  int64_t steps = ShapedType::kDynamic;
  if (failed(parser.parseOptionalQuestion()) && parser.parseInteger(steps))
    return failure();
  properties.steps = parser.getBuilder().getI64IntegerAttr(steps);
  SMLoc location = parser.getCurrentLocation();
  std::array<int32_t, 4> counts;
  Operands limit;
  if (succeeded(parser.parseOptionalKeyword("limit")) &&
      parser.parseOperand(limit.emplace_back()))
    return failure();
  counts[3] = limit.size();
  FunctionType type;
  NamedAttrList attributes;
  if (parseGroup(parser, "states", arguments, operands, counts[0]) ||
      parseGroup(parser, "sequences", arguments, operands, counts[1]) ||
      parseGroup(parser, "captures", arguments, operands, counts[2]) ||
      parser.parseOptionalAttrDictWithKeyword(attributes) ||
      parser.parseColonType(type))
    return failure();
  // Its type is the last one; the region has no argument for it.
  llvm::append_range(operands, limit);
  if (parser.resolveOperands(operands, type.getInputs(), location,
                             result.operands))
    return failure();
  llvm::copy(counts, properties.operandSegmentSizes.begin());
  // Inherent attributes of another kind would be lost without a word.
  for (StringAttr name : {getInputAxesAttrName(result.name),
                          getInputReversedAttrName(result.name),
                          getOutputAxesAttrName(result.name),
                          getOutputReversedAttrName(result.name)})
    if (Attribute list = attributes.get(name);
        list && !isa<DenseI64ArrayAttr>(list))
      return parser.emitError(location)
             << name << " must be a list such as array<i64: 1>, but is "
             << list;

  auto axes = dyn_cast_or_null<DenseI64ArrayAttr>(
      attributes.get(getInputAxesAttrName(result.name)));
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    int64_t place = index - counts[0];
    // A state may have open dimensions, which the first one does not have.
    bool isState = place < 0 && index < type.getNumResults();
    argument.type = isState ? type.getResult(index) : type.getInput(index);
    if (place < 0 || place >= counts[1])
      continue;
    auto sequence = dyn_cast<RankedTensorType>(argument.type);
    int64_t axis = axes ? ScanOp::entry(axes.asArrayRef(), place) : 0;
    if (!sequence || axis < 0 || axis >= sequence.getRank())
      return parser.emitError(location)
             << "sequence #" << place << " of type " << argument.type
             << " has no axis " << axis;
    argument.type = sliceType(sequence, axis);
  }
  result.addAttributes(attributes);
  result.addTypes(type.getResults());
  return parser.parseRegion(*result.addRegion(), arguments);
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (ShapedType::isDynamic(getSteps()))
    printer << '?';
  else
    printer << getSteps();
  if (Value limit = getLimit())
    printer << " limit " << limit;
  auto arguments = getBody().getArguments();
  size_t next = 0;
  auto group = [&](StringRef keyword, OperandRange operands) {
    printer << ' ' << keyword << " (";
    llvm::interleaveComma(operands, printer, [&](Value operand) {
      printer << arguments[next++] << " = " << operand;
    });
    printer << ')';
  };
  group("states", getStates());
  group("sequences", getSequences());
  group("captures", getCaptured());
  SmallVector<StringRef> elided = {getStepsAttrName(),
                                   getOperandSegmentSizesAttrName()};
  for (StringAttr name : {getInputAxesAttrName(), getInputReversedAttrName(),
                          getOutputAxesAttrName(), getOutputReversedAttrName()})
    if (cast<DenseI64ArrayAttr>((*this)->getAttr(name)).empty())
      elided.push_back(name);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
/// Checks a loop, and infers the types of its results.
class Checker {
public:
  Checker(Infer &infer, ScanOp::Adaptor adaptor)
      : infer(infer), adaptor(adaptor), steps(adaptor.getSteps()) {}

  LogicalResult infers(Types &types) {
    bool isOpen = ShapedType::isDynamic(steps);
    if (!isOpen && steps < 1)
      return infer.fail("has ", steps, " steps, but must have 1 or more");
    if (isOpen && adaptor.getSequences().empty())
      return infer.fail(
          "has '?' steps, but no sequence that they are those of");
    Region &body = adaptor.getBody();
    if (!body.hasOneBlock())
      return infer.fail("must have a region of one block");
    Block &block = body.front();
    auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
    if (!yield)
      return infer.fail("region must end with graph.yield");
    if (failed(checkArguments(block)))
      return failure();
    size_t states = adaptor.getStates().size();
    if (yield.getValues().size() < states)
      return infer.fail("yields ", yield.getValues().size(), " values for ",
                        states, " states");
    for (auto [index, next] :
         llvm::enumerate(yield.getValues().take_front(states))) {
      Type state = block.getArgument(index).getType();
      if (state != next.getType())
        return infer.fail("state #", index, " is ", state,
                          ", but the next one is ", next.getType());
      types.push_back(state);
    }
    return collect(yield.getValues().drop_front(states), types);
  }

private:
  LogicalResult checkArguments(Block &block) {
    ValueRange operands = adaptor.getOperands();
    if (adaptor.getLimit())
      operands = operands.drop_back();
    size_t expected = operands.size();
    if (block.getNumArguments() != expected)
      return infer.fail("has ", expected, " operands, but its region has ",
                        block.getNumArguments(), " arguments");
    if (failed(checkList("input_axes", adaptor.getInputAxes(),
                         adaptor.getSequences().size())) ||
        failed(checkDirections("input_reversed", adaptor.getInputReversed(),
                               adaptor.getSequences().size())))
      return failure();
    size_t states = adaptor.getStates().size();
    size_t sequences = adaptor.getSequences().size();
    for (auto [index, operand] : llvm::enumerate(operands)) {
      Type type = operand.getType();
      if (index >= states && index < states + sequences) {
        FailureOr<Type> slice = sliceOf(index - states, typeOf(operand));
        if (failed(slice))
          return failure();
        type = *slice;
      }
      Type argument = block.getArgument(index).getType();
      if (index < states && isOpened(type, argument))
        continue;
      if (argument != type)
        return infer.fail("argument #", index, " of the region must be ", type,
                          ", but is ", argument);
    }
    return success();
  }

  /// The same type, but for dimensions that change from step to step.
  static bool isOpened(Type type, Type argument) {
    auto from = cast<RankedTensorType>(type);
    auto to = dyn_cast<RankedTensorType>(argument);
    return to && from.getElementType() == to.getElementType() &&
           from.getRank() == to.getRank() &&
           llvm::all_of_zip(
               from.getShape(), to.getShape(), [](int64_t known, int64_t size) {
                 return size == known || ShapedType::isDynamic(size);
               });
  }

  FailureOr<Type> sliceOf(size_t place, RankedTensorType type) {
    int64_t axis = ScanOp::entry(adaptor.getInputAxes(), place);
    if (axis < 0 || axis >= type.getRank())
      return infer.fail("'input_axes' names axis ", axis, " of sequence #",
                        place, ", which is ", type);
    if (!mayEqual(type.getDimSize(axis), steps))
      return infer.fail("sequence #", place, " has ", type.getDimSize(axis),
                        " slices along axis ", axis, ", but the loop has ",
                        steps, " steps");
    return Type(sliceType(type, axis));
  }

  LogicalResult collect(ValueRange slices, Types &types) {
    if (failed(
            checkList("output_axes", adaptor.getOutputAxes(), slices.size())) ||
        failed(checkDirections("output_reversed", adaptor.getOutputReversed(),
                               slices.size())))
      return failure();
    for (auto [place, slice] : llvm::enumerate(slices)) {
      auto type = cast<RankedTensorType>(slice.getType());
      int64_t axis = ScanOp::entry(adaptor.getOutputAxes(), place);
      if (axis < 0 || axis > type.getRank())
        return infer.fail("'output_axes' puts slices of ", type, " along axis ",
                          axis);
      Shape shape(type.getShape());
      shape.insert(shape.begin() + axis, steps);
      types.push_back(RankedTensorType::get(shape, type.getElementType()));
    }
    return success();
  }

  LogicalResult checkList(StringRef name, ArrayRef<int64_t> list, size_t size) {
    if (list.empty() || list.size() == size)
      return success();
    return infer.fail("'", name, "' has ", list.size(),
                      " elements, but must have ", size, " or none");
  }

  LogicalResult checkDirections(StringRef name, ArrayRef<int64_t> list,
                                size_t size) {
    for (int64_t each : list)
      if (each != 0 && each != 1)
        return infer.fail("'", name, "' has ", each, ", but must be 0s and 1s");
    return checkList(name, list, size);
  }

  Infer &infer;
  ScanOp::Adaptor adaptor;
  int64_t steps;
};
} // namespace

LogicalResult
ScanOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                         ValueRange operands, DictionaryAttr attributes,
                         OpaqueProperties properties, RegionRange regions,
                         SmallVectorImpl<Type> &types) {
  Infer infer(context, location, getOperationName());
  // Builders fill in defaults only after inference.
  Properties filled =
      properties ? *properties.as<Properties *>() : Properties();
  OperationName(getOperationName(), context)
      .populateDefaultProperties(OpaqueProperties(&filled));
  int64_t counted = 0;
  for (int32_t size : filled.operandSegmentSizes)
    counted = size < 0 ? -1 : counted + size;
  if (counted != static_cast<int64_t>(operands.size()) || regions.size() != 1)
    return infer.fail("has ", operands.size(),
                      " operands, but 'operandSegmentSizes' sums up to ",
                      counted);
  for (auto [index, operand] : llvm::enumerate(operands))
    if (!isa<RankedTensorType>(operand.getType()))
      return infer.fail("operand #", index, " must be a ranked tensor, but is ",
                        operand.getType());
  Adaptor adaptor(operands, attributes, OpaqueProperties(&filled), regions);
  if (failed(adaptor.verify(location.value_or(UnknownLoc::get(context)))))
    return failure();
  return Checker(infer, adaptor).infers(types);
}

bool ScanOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange declared) {
  return compatibleTypes(inferred, declared);
}

/// MLIR checks the types by itself, but a wrong loop would then have two
/// errors.
LogicalResult ScanOp::verify() {
  SmallVector<Type> inferred;
  Operation *op = *this;
  if (failed(inferReturnTypes(getContext(), getLoc(), op->getOperands(),
                              op->getRawDictionaryAttrs(),
                              op->getPropertiesStorage(), op->getRegions(),
                              inferred)))
    return failure();
  return verifyInferred(op, inferred);
}
