//===- InferProducts.cpp - Types of matrix products and einsum ------------===//

#include "graph/GraphNN.h"

#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace mlir;
using namespace phl::graph;

LogicalResult GemmOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  Value a = adaptor.getA(), b = adaptor.getB(), c = adaptor.getC();
  if (failed(infer.rankIs("a", a, 2)) || failed(infer.rankIs("b", b, 2)) ||
      failed(infer.sameElementType("a", a, "b", b)))
    return failure();
  bool transA = adaptor.getTransA(), transB = adaptor.getTransB();
  int64_t depthA = typeOf(a).getDimSize(transA ? 0 : 1);
  int64_t depthB = typeOf(b).getDimSize(transB ? 1 : 0);
  if (!mayEqual(depthA, depthB))
    return infer.fail("A has ", depthA, " columns, but B has ", depthB, " rows",
                      transA || transB ? ", after transposing" : "");
  Shape shape = {typeOf(a).getDimSize(transA ? 1 : 0),
                 typeOf(b).getDimSize(transB ? 0 : 1)};
  if (c && (failed(infer.sameElementType("c", c, "a", a)) ||
            failed(infer.broadcastsTo("c", typeOf(c).getShape(), shape))))
    return failure();
  types.push_back(RankedTensorType::get(shape, typeOf(a).getElementType()));
  return success();
}

namespace phl::graph {

FailureOr<Shape> matmulShape(Infer &infer, Value a, Value b) {
  if (failed(infer.rankAtLeast("a", a, 1)) ||
      failed(infer.rankAtLeast("b", b, 1)))
    return failure();
  ArrayRef<int64_t> left = typeOf(a).getShape(), right = typeOf(b).getShape();
  int64_t depthA = left.back();
  int64_t depthB = right.size() == 1 ? right[0] : right[right.size() - 2];
  if (!mayEqual(depthA, depthB))
    return infer.fail("'a' has ", depthA, " columns, but 'b' has ", depthB,
                      " rows: ", a.getType(), " and ", b.getType());
  FailureOr<Shape> shape =
      infer.broadcast(left.drop_back(std::min<size_t>(2, left.size())),
                      right.drop_back(std::min<size_t>(2, right.size())));
  if (failed(shape))
    return failure();
  if (left.size() > 1)
    shape->push_back(left[left.size() - 2]);
  if (right.size() > 1)
    shape->push_back(right.back());
  return shape;
}

} // namespace phl::graph

LogicalResult MatMulOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  Value a = adaptor.getA(), b = adaptor.getB();
  if (failed(infer.sameElementType("a", a, "b", b)))
    return failure();
  FailureOr<Shape> shape = matmulShape(infer, a, b);
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, typeOf(a).getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {

/// The dimensions that the letters of an equation stand for.
class Equation {
public:
  explicit Equation(Infer &infer) : infer(infer) { sizes.fill(kUnbound); }

  /// Binds the letters of one operand's term to its dimensions.
  LogicalResult bind(size_t index, StringRef term, ArrayRef<int64_t> shape);
  /// The shape that the term of the result stands for.
  FailureOr<Shape> resultShape(StringRef term) const;
  /// The letters that occur once, in order, for equations without a result.
  std::string implicitResult() const;

private:
  static constexpr int64_t kUnbound = -1;
  static bool isLetter(char c) { return llvm::isAlpha(c); }

  LogicalResult bindLetter(char letter, int64_t dim);

  Infer &infer;
  std::array<int64_t, 128> sizes;
  std::array<int, 128> uses = {};
  Shape ellipsis;
  bool hasEllipsis = false;
};

LogicalResult Equation::bindLetter(char letter, int64_t dim) {
  if (!isLetter(letter))
    return infer.fail("'equation' has '", Twine(letter).str(),
                      "' where a letter must be");
  int64_t &size = sizes[static_cast<unsigned char>(letter)];
  ++uses[static_cast<unsigned char>(letter)];
  if (size == kUnbound || size == 1 || size == kDynamic) {
    // A dimension of 1 broadcasts, so that an unknown one may not hide it.
    if (size == kUnbound || dim != 1)
      size = dim;
    return success();
  }
  if (dim != 1 && !mayEqual(size, dim))
    return infer.fail("'equation' uses '", Twine(letter).str(),
                      "' for dimensions of size ", size, " and ", dim);
  return success();
}

LogicalResult Equation::bind(size_t index, StringRef term,
                             ArrayRef<int64_t> shape) {
  size_t dots = term.find("...");
  StringRef head = term.take_front(dots);
  StringRef tail = dots == StringRef::npos ? "" : term.drop_front(dots + 3);
  size_t letters = head.size() + tail.size();
  if (letters > shape.size() ||
      (dots == StringRef::npos && letters != shape.size()))
    return infer.fail("'equation' gives '", term, "' to operand #", index,
                      ", which has rank ", shape.size());
  for (auto [letter, dim] : llvm::zip_first(head, shape))
    if (failed(bindLetter(letter, dim)))
      return failure();
  for (auto [letter, dim] : llvm::zip_equal(tail, shape.take_back(tail.size())))
    if (failed(bindLetter(letter, dim)))
      return failure();
  if (dots == StringRef::npos)
    return success();
  hasEllipsis = true;
  FailureOr<Shape> joined = infer.broadcast(
      ellipsis, shape.drop_front(head.size()).drop_back(tail.size()));
  if (failed(joined))
    return failure();
  ellipsis = *joined;
  return success();
}

FailureOr<Shape> Equation::resultShape(StringRef term) const {
  Shape shape;
  std::array<bool, 128> seen = {};
  while (!term.empty()) {
    if (term.consume_front("...")) {
      shape.append(ellipsis);
      continue;
    }
    char letter = term.front();
    term = term.drop_front();
    if (!isLetter(letter))
      return infer.fail("'equation' has '", Twine(letter).str(),
                        "' where a letter must be");
    auto index = static_cast<unsigned char>(letter);
    if (sizes[index] == kUnbound)
      return infer.fail("'equation' uses '", Twine(letter).str(),
                        "' in the result, but in no operand");
    if (seen[index])
      return infer.fail("'equation' uses '", Twine(letter).str(),
                        "' twice in the result");
    seen[index] = true;
    shape.push_back(sizes[index]);
  }
  return shape;
}

std::string Equation::implicitResult() const {
  std::string term = hasEllipsis ? "..." : "";
  for (size_t letter = 0; letter < uses.size(); ++letter)
    if (uses[letter] == 1)
      term += static_cast<char>(letter);
  return term;
}

} // namespace

LogicalResult EinsumOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  std::string text;
  for (char c : adaptor.getEquation())
    if (c != ' ')
      text += c;
  auto [inputs, result] = StringRef(text).split("->");
  bool explicitResult = StringRef(text).contains("->");
  SmallVector<StringRef> terms;
  inputs.split(terms, ',');
  ValueRange operands = adaptor.getInputs();
  if (terms.size() != operands.size() || operands.empty())
    return infer.fail("'equation' has ", terms.size(),
                      " terms for operands, but there are ", operands.size());

  Equation equation(infer);
  for (size_t i = 0; i < terms.size(); ++i)
    if (failed(infer.sameElementType("inputs", operands[i], "the first input",
                                     operands[0])) ||
        failed(equation.bind(i, terms[i], typeOf(operands[i]).getShape())))
      return failure();
  std::string implicit = equation.implicitResult();
  FailureOr<Shape> shape =
      equation.resultShape(explicitResult ? result : StringRef(implicit));
  if (failed(shape))
    return failure();
  types.push_back(
      RankedTensorType::get(*shape, typeOf(operands[0]).getElementType()));
  return success();
}
