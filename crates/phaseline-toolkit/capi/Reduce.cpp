//===- Reduce.cpp - C API of edits that reduce IR -------------------------===//

#include "capi/Reduce.h"
#include "capi/Analysis.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>
#include <string>

using namespace mlir;

/// The operation by an interface; null where it has not that one, or is not
/// valid.
template <typename Interface> static Interface valid(MlirOperation op) {
  auto found = dyn_cast<Interface>(unwrap(op));
  return found && phlIsValid(op) ? found : Interface();
}

bool phlCheckAndPrint(MlirOperation op, MlirStringCallback append, void *user) {
  // Handlers of signals are the process's.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  bool isValid = false;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  bool hasEnded = recovery.RunSafely([&] {
    isValid = succeeded(verify(unwrap(op)));
    if (isValid) {
      llvm::raw_string_ostream stream(text);
      unwrap(op)->print(stream);
      // Verifiers do not count all operands, and printers trust them.
      ParserConfig config(unwrap(op)->getContext());
      isValid = bool(parseSourceString<ModuleOp>(text, config));
    }
  });
  llvm::CrashRecoveryContext::Disable();
  if (!hasEnded || !isValid)
    return false;
  append(wrap(StringRef(text)), user);
  return true;
}

bool phlIsIsolated(MlirOperation op) {
  return unwrap(op)->hasTrait<OpTrait::IsIsolatedFromAbove>();
}

bool phlIsEnd(MlirOperation raw) {
  Operation *op = unwrap(raw), *parent = op->getParentOp();
  return op->getBlock() && &op->getBlock()->back() == op &&
         op->mightHaveTrait<OpTrait::IsTerminator>() &&
         !(parent && parent->hasTrait<OpTrait::NoTerminator>());
}

bool phlFunction(MlirOperation op, intptr_t *arguments, intptr_t *results) {
  auto function = valid<FunctionOpInterface>(op);
  if (!function)
    return false;
  *arguments = function.getNumArguments();
  *results = function.getNumResults();
  return true;
}

bool phlFunctionDropBody(MlirOperation op) {
  auto function = valid<FunctionOpInterface>(op);
  if (!function || function.isExternal())
    return false;
  function.eraseBody();
  if (auto symbol = dyn_cast<SymbolOpInterface>(unwrap(op)))
    symbol.setPrivate();
  return true;
}

/// The type of a function without an argument; null where there is none.
static Type withoutArgument(FunctionOpInterface function, unsigned index) {
  llvm::BitVector gone(function.getNumArguments());
  gone.set(index);
  if (Type type = function.getTypeWithoutArgs(gone))
    return type;
  // MLIR has no such type for an `llvm.func` without a result, and the dialect
  // is linked by those that ask for it.
  const StringRef start = "!llvm.func<void (";
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << function.getFunctionType();
  if (!StringRef(text).starts_with(start) || StringRef(text).contains("..."))
    return Type();
  text = start.str();
  SmallVector<Type> left;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (i != index)
      left.push_back(type);
  llvm::interleaveComma(left, stream);
  stream << ")>";
  return parseType(text, function->getContext());
}

bool phlFunctionEraseArgument(MlirOperation op, intptr_t index) {
  auto function = valid<FunctionOpInterface>(op);
  if (!function || index < 0 || index >= intptr_t(function.getNumArguments()))
    return false;
  if (!function.isExternal() && !function.getArgument(index).use_empty())
    return false;
  Type type = withoutArgument(function, index);
  if (!type)
    return false;
  llvm::BitVector gone(function.getNumArguments());
  gone.set(index);
  function_interface_impl::eraseFunctionArguments(function, gone, type);
  return true;
}

bool phlFunctionEraseResult(MlirOperation op, intptr_t index) {
  auto function = valid<FunctionOpInterface>(op);
  if (!function || index < 0 || index >= intptr_t(function.getNumResults()))
    return false;
  SmallVector<Operation *> returns;
  for (Block &block : function.getFunctionBody()) {
    if (block.empty() || !block.back().hasTrait<OpTrait::ReturnLike>())
      continue;
    if (block.back().getNumOperands() != function.getNumResults())
      return false;
    returns.push_back(&block.back());
  }
  if (failed(function.eraseResult(index)))
    return false;
  for (Operation *last : returns)
    last->eraseOperand(index);
  return true;
}

bool phlCallEraseArgument(MlirOperation op, intptr_t index) {
  auto call = valid<CallOpInterface>(op);
  if (!call || index < 0 || index >= intptr_t(call.getArgOperands().size()))
    return false;
  call.getArgOperandsMutable().erase(index);
  return true;
}

bool phlBranchEraseOperand(MlirOperation op, intptr_t successor,
                           intptr_t index) {
  // Its block has an argument too many or too few while several operands go.
  auto branch = dyn_cast<BranchOpInterface>(unwrap(op));
  if (!branch || successor < 0 ||
      successor >= intptr_t(unwrap(op)->getNumSuccessors()))
    return false;
  SuccessorOperands operands = branch.getSuccessorOperands(successor);
  if (index < 0 || index >= intptr_t(operands.size()) ||
      operands.isOperandProduced(index))
    return false;
  operands.erase(index);
  return true;
}

bool phlEraseOperand(MlirOperation raw, intptr_t index) {
  Operation *op = unwrap(raw);
  if (index < 0 || index >= intptr_t(op->getNumOperands()))
    return false;
  StringRef name = "operandSegmentSizes";
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>(name)) {
    SmallVector<int32_t> left(sizes.asArrayRef());
    intptr_t end = 0;
    auto segment = llvm::find_if(
        left, [&](int32_t size) { return index < (end += size); });
    if (segment == left.end())
      return false;
    --*segment;
    op->setAttr(name, DenseI32ArrayAttr::get(op->getContext(), left));
  }
  op->eraseOperand(index);
  return true;
}

bool phlRegionInputs(MlirOperation op, intptr_t region, PhlPairCallback pair,
                     void *user) {
  auto branch = valid<RegionBranchOpInterface>(op);
  if (!branch || region < 0 || region >= intptr_t(unwrap(op)->getNumRegions()))
    return false;
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (RegionSuccessor successor : successors)
    if (successor.getSuccessor() == &unwrap(op)->getRegion(region))
      for (auto [to, from] :
           llvm::zip(successor.getSuccessorInputs(),
                     branch.getEntrySuccessorOperands(successor)))
        pair(wrap(to), wrap(from), user);
  return true;
}

bool phlRegionOutputs(MlirOperation op, PhlPairCallback pair, void *user) {
  auto last = valid<RegionBranchTerminatorOpInterface>(op);
  Operation *parent = unwrap(op)->getParentOp();
  if (!last || !isa_and_nonnull<RegionBranchOpInterface>(parent) ||
      !phlIsValid(wrap(parent)))
    return false;
  SmallVector<RegionSuccessor> successors;
  cast<RegionBranchOpInterface>(parent).getSuccessorRegions(
      RegionBranchPoint(last), successors);
  for (RegionSuccessor successor : successors)
    if (successor.isParent())
      for (auto [to, from] : llvm::zip(successor.getSuccessorInputs(),
                                       last.getSuccessorOperands(successor)))
        pair(wrap(to), wrap(from), user);
  return true;
}

bool phlResetAttribute(MlirOperation raw, MlirStringRef name) {
  Operation *op = unwrap(raw);
  Attribute before = op->getAttrDictionary();
  op->removeAttr(unwrap(name));
  if (auto properties = op->getPropertiesStorage())
    op->getName().populateDefaultProperties(properties);
  else
    op->populateDefaultAttrs();
  return op->getAttrDictionary() != before;
}

MlirValue phlZero(MlirOperation raw, MlirType rawType) {
  Operation *op = unwrap(raw);
  Type type = unwrap(rawType);
  if (auto shaped = dyn_cast<ShapedType>(type))
    if (!shaped.hasStaticShape())
      return wrap(Value());
  OpBuilder builder(op);
  TypedAttr zero = builder.getZeroAttr(type);
  Attribute known;
  if (!zero || (matchPattern(op, m_Constant(&known)) && known == zero))
    return wrap(Value());
  for (Dialect *dialect : {op->getDialect(), &type.getDialect(),
                           op->getContext()->getLoadedDialect("arith")}) {
    if (!dialect)
      continue;
    Operation *made =
        dialect->materializeConstant(builder, zero, type, op->getLoc());
    if (made && made->getNumResults() == 1 &&
        made->getResult(0).getType() == type && phlIsValid(wrap(made)))
      return wrap(made->getResult(0));
    if (made)
      made->erase();
  }
  return wrap(Value());
}
