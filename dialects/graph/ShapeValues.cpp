//===- ShapeValues.cpp - What is known of the integers in a value ---------===//

#include "graph/ShapeValues.h"

#include "graph/Elements.h"
#include "graph/GraphBinary.h"
#include "graph/GraphData.h"
#include "graph/GraphShape.h"
#include "graph/GraphUnary.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace phl::graph {

// Shapes have few dimensions, and their arithmetic is short. The budget bounds
// the work where values are used many times over.
static constexpr int64_t kMaxElements = 64;

namespace {
struct Budget {
  int left = 256;
  bool spend() { return left > 0 && left-- > 0; }
};
} // namespace

static std::optional<Integers> evaluate(Value value, Budget &budget);

ElementsAttr constantOf(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return constant.getValue();
  return {};
}

using Element = std::optional<int64_t>;

/// Element i of a list that is broadcast.
static Element at(const Integers &values, size_t i) {
  if (values.size() == 1)
    return values.front();
  return i < values.size() ? values[i] : Element();
}

static Integers shapeOf(ShapeOp op) {
  ArrayRef<int64_t> shape = typeOf(op.getX()).getShape();
  auto [start, end] = shapeRange(op.getStart(), op.getEnd(), shape.size());
  Integers result;
  for (int64_t dim : shape.slice(start, end - start))
    result.push_back(known(dim) ? std::optional(dim) : std::nullopt);
  return result;
}

static std::optional<Integers> gather(GatherOp op, Budget &budget) {
  std::optional<Integers> data = evaluate(op.getX(), budget);
  std::optional<Integers> indices = evaluate(op.getIndices(), budget);
  if (!data || !indices || typeOf(op.getX()).getRank() != 1)
    return std::nullopt;
  Integers result;
  int64_t size = data->size();
  for (std::optional<int64_t> index : *indices) {
    if (index && *index >= -size && *index < size)
      result.push_back((*data)[*index < 0 ? *index + size : *index]);
    else
      result.push_back(std::nullopt);
  }
  return result;
}

static std::optional<Integers> concat(ConcatOp op, Budget &budget) {
  Integers result;
  for (Value input : op.getInputs()) {
    std::optional<Integers> part = evaluate(input, budget);
    if (!part)
      return std::nullopt;
    result.append(*part);
  }
  return result;
}

static std::optional<Integers> slice(SliceOp op, Budget &budget) {
  std::optional<Integers> data = evaluate(op.getX(), budget);
  std::optional<int64_t> start = knownInteger(op.getStarts());
  std::optional<int64_t> end = knownInteger(op.getEnds());
  std::optional<int64_t> step = op.getSteps() ? knownInteger(op.getSteps()) : 1;
  if (!data || !start || !end || !step || *step == 0)
    return std::nullopt;
  SliceRange range = clampSlice(*start, *end, *step, data->size());
  Integers result;
  for (int64_t i = 0; i < range.count; ++i)
    result.push_back((*data)[range.start + i * *step]);
  return result;
}

template <typename Function>
static std::optional<Integers> combine(Value a, Value b, Budget &budget,
                                       Function function) {
  std::optional<Integers> left = evaluate(a, budget),
                          right = evaluate(b, budget);
  if (!left || !right)
    return std::nullopt;
  size_t count = left->size() == 1 ? right->size() : left->size();
  if (right->size() != 1 && right->size() != count)
    return std::nullopt;
  Integers result;
  for (size_t i = 0; i < count; ++i) {
    std::optional<int64_t> x = at(*left, i), y = at(*right, i);
    result.push_back(x && y ? function(*x, *y) : std::nullopt);
  }
  return result;
}

/// The result of an operation such as llvm::AddOverflow, if it fits.
template <typename Operation>
static Element checked(Operation operation, int64_t x, int64_t y) {
  int64_t result = 0;
  return operation(x, y, result) ? Element() : Element(result);
}

static std::optional<Integers> arithmetic(Operation *op, Budget &budget) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (isa<AddOp>(op))
    return combine(a, b, budget, [](int64_t x, int64_t y) {
      return checked(llvm::AddOverflow<int64_t>, x, y);
    });
  if (isa<SubOp>(op))
    return combine(a, b, budget, [](int64_t x, int64_t y) {
      return checked(llvm::SubOverflow<int64_t>, x, y);
    });
  if (isa<MulOp>(op))
    return combine(a, b, budget, [](int64_t x, int64_t y) {
      return checked(llvm::MulOverflow<int64_t>, x, y);
    });
  if (isa<DivOp>(op))
    return combine(a, b, budget, [](int64_t x, int64_t y) {
      // y = -1 may overflow, and no shape arithmetic divides by it.
      return y > 0 ? Element(x / y) : Element();
    });
  if (isa<MinOp>(op))
    return combine(a, b, budget, [](int64_t x, int64_t y) {
      return Element(std::min(x, y));
    });
  if (isa<MaxOp>(op))
    return combine(a, b, budget, [](int64_t x, int64_t y) {
      return Element(std::max(x, y));
    });
  return combine(a, b, budget,
                 [](int64_t x, int64_t y) { return Element(x == y); });
}

static std::optional<Integers> where(WhereOp op, Budget &budget) {
  std::optional<Integers> condition = evaluate(op.getCondition(), budget);
  std::optional<Integers> a = evaluate(op.getA(), budget);
  std::optional<Integers> b = evaluate(op.getB(), budget);
  if (!condition || !a || !b)
    return std::nullopt;
  size_t count = std::max({condition->size(), a->size(), b->size()});
  Integers result;
  for (size_t i = 0; i < count; ++i) {
    if (Element chosen = at(*condition, i))
      result.push_back(*chosen ? at(*a, i) : at(*b, i));
    else
      result.push_back(at(*a, i) == at(*b, i) ? at(*a, i) : Element());
  }
  return result;
}

static std::optional<Integers> fill(ConstantOfShapeOp op, Budget &budget) {
  std::optional<Integers> size = evaluate(op.getShape(), budget);
  auto value = integerElements(op.getValue(), 1);
  if (!value || value->size() != 1 || !size || size->size() != 1 ||
      !size->front() || *size->front() < 0 || *size->front() > kMaxElements)
    return std::nullopt;
  return Integers(*size->front(), value->front());
}

static std::optional<Integers> evaluateOp(Operation *op, Budget &budget) {
  using Result = std::optional<Integers>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<ConstantOp>([](ConstantOp op) -> Result {
        std::optional<Integers> result;
        if (auto values = integerElements(op.getValue(), kMaxElements))
          result.emplace(values->begin(), values->end());
        return result;
      })
      .Case<ShapeOp>([](ShapeOp op) -> Result { return shapeOf(op); })
      .Case<SizeOp>([](SizeOp op) -> Result {
        RankedTensorType type = typeOf(op.getX());
        if (!type.hasStaticShape())
          return Integers{std::nullopt};
        return Integers{type.getNumElements()};
      })
      .Case<IdentityOp, SqueezeOp, UnsqueezeOp, ReshapeOp>(
          [&](auto op) { return evaluate(op.getX(), budget); })
      .Case<CastOp>([&](CastOp op) -> Result {
        // Narrowing could change the value.
        if (!isa<IntegerType>(op.getTo()) ||
            op.getTo().getIntOrFloatBitWidth() < 32)
          return std::nullopt;
        return evaluate(op.getX(), budget);
      })
      .Case<GatherOp>([&](GatherOp op) { return gather(op, budget); })
      .Case<ConcatOp>([&](ConcatOp op) { return concat(op, budget); })
      .Case<SliceOp>([&](SliceOp op) { return slice(op, budget); })
      .Case<ConstantOfShapeOp>(
          [&](ConstantOfShapeOp op) { return fill(op, budget); })
      .Case<WhereOp>([&](WhereOp op) { return where(op, budget); })
      .Case<AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp, EqualOp>(
          [&](auto op) { return arithmetic(op, budget); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

static std::optional<Integers> evaluate(Value value, Budget &budget) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() > 1 || !type.getElementType().isSignlessInteger())
    return std::nullopt;
  bool sized = type.hasStaticShape() && type.getNumElements() <= kMaxElements;
  std::optional<Integers> result;
  if (Operation *op = value.getDefiningOp(); op && budget.spend())
    result = evaluateOp(op, budget);
  if (sized &&
      (!result || result->size() != static_cast<size_t>(type.getNumElements())))
    return Integers(type.getNumElements());
  // Arithmetic in fewer than 64 bits wraps around; then nothing is known.
  for (Element element : result.value_or(Integers()))
    if (element && wrapInteger(*element, type.getElementType()) != *element)
      return std::nullopt;
  return result;
}

std::optional<Integers> knownIntegers(Value value) {
  Budget budget;
  return evaluate(value, budget);
}

std::optional<SmallVector<int64_t, 8>> allIntegers(Value value) {
  std::optional<Integers> values = knownIntegers(value);
  if (!values ||
      !llvm::all_of(*values, [](Element e) { return e.has_value(); }))
    return std::nullopt;
  return llvm::map_to_vector<8>(*values, [](Element e) { return *e; });
}

std::optional<int64_t> knownInteger(Value value) {
  std::optional<Integers> values = knownIntegers(value);
  if (!values || values->size() != 1)
    return std::nullopt;
  return values->front();
}

} // namespace phl::graph
