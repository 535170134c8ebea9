//===- Conversion.cpp - C API of dialect conversion -----------------------===//

#include "capi/Conversion.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

namespace {

/// A target with its context, which MLIR's keeps for itself.
struct Target : public ConversionTarget {
  explicit Target(MLIRContext &context)
      : ConversionTarget(context), context(&context) {}

  MLIRContext *context;
};

} // namespace

static Target &unwrap(PhlConversionTarget target) {
  return *static_cast<Target *>(static_cast<ConversionTarget *>(target.ptr));
}

static TypeConverter &unwrap(PhlTypeConverter converter) {
  return *static_cast<TypeConverter *>(converter.ptr);
}

static ConversionPatternRewriter &conversion(MlirRewriterBase rewriter) {
  return *static_cast<ConversionPatternRewriter *>(unwrap(rewriter));
}

static std::optional<bool> answer(PhlAnswer answer) {
  if (answer == PHL_ANSWER_NONE)
    return std::nullopt;
  return answer == PHL_ANSWER_YES;
}

/// The values in groups of these sizes.
static SmallVector<ValueRange> groups(ArrayRef<Value> values,
                                      const intptr_t *sizes, intptr_t count) {
  SmallVector<ValueRange> found;
  for (intptr_t i = 0; i < count; ++i) {
    found.push_back(values.take_front(sizes[i]));
    values = values.drop_front(sizes[i]);
  }
  return found;
}

static SmallVector<Value> flat(const MlirValue *values, const intptr_t *sizes,
                               intptr_t count) {
  SmallVector<Value> found;
  for (intptr_t i = 0, n = 0; i < count; ++i)
    for (intptr_t end = n + sizes[i]; n < end; ++n)
      found.push_back(unwrap(values[n]));
  return found;
}

PhlConversionTarget phlConversionTargetCreate(MlirContext context) {
  return {static_cast<ConversionTarget *>(new Target(*unwrap(context)))};
}

void phlConversionTargetDestroy(PhlConversionTarget target) {
  delete &unwrap(target);
}

static void setAction(PhlConversionTarget target, StringRef name,
                      ConversionTarget::LegalizationAction action) {
  MLIRContext *context = unwrap(target).context;
  if (name.contains('.'))
    unwrap(target).setOpAction(OperationName(name, context), action);
  else
    unwrap(target).setDialectAction({name}, action);
}

void phlConversionTargetAddLegal(PhlConversionTarget target,
                                 MlirStringRef name) {
  setAction(target, unwrap(name), ConversionTarget::LegalizationAction::Legal);
}

void phlConversionTargetAddIllegal(PhlConversionTarget target,
                                   MlirStringRef name) {
  setAction(target, unwrap(name),
            ConversionTarget::LegalizationAction::Illegal);
}

void phlConversionTargetAddDynamic(PhlConversionTarget target,
                                   MlirStringRef name,
                                   PhlAnswer (*legal)(MlirOperation, void *),
                                   void *user) {
  auto callback = [=](Operation *op) { return answer(legal(wrap(op), user)); };
  if (unwrap(name).empty())
    unwrap(target).markUnknownOpDynamicallyLegal(callback);
  else
    unwrap(target).addDynamicallyLegalOp(
        OperationName(unwrap(name), unwrap(target).context), callback);
}

PhlAnswer phlConversionTargetIsLegal(PhlConversionTarget target,
                                     MlirOperation op) {
  if (unwrap(target).isLegal(unwrap(op)))
    return PHL_ANSWER_YES;
  return unwrap(target).isIllegal(unwrap(op)) ? PHL_ANSWER_NO : PHL_ANSWER_NONE;
}

PhlTypeConverter phlTypeConverterCreate(void) {
  auto *converter = new TypeConverter();
  converter->addConversion([](Type type) { return type; });
  converter->addSourceMaterialization([](OpBuilder &builder, Type type,
                                         ValueRange inputs,
                                         Location location) -> Value {
    return UnrealizedConversionCastOp::create(builder, location, type, inputs)
        .getResult(0);
  });
  converter->addTargetMaterialization(
      [](OpBuilder &builder, TypeRange types, ValueRange inputs,
         Location location) -> SmallVector<Value> {
        return llvm::to_vector_of<Value>(
            UnrealizedConversionCastOp::create(builder, location, types, inputs)
                .getResults());
      });
  return {converter};
}

void phlTypeConverterDestroy(PhlTypeConverter converter) {
  delete &unwrap(converter);
}

void phlTypeConverterAddConversion(PhlTypeConverter converter,
                                   PhlAnswer (*convert)(MlirType,
                                                        PhlTypeCallback, void *,
                                                        void *),
                                   void *user) {
  unwrap(converter).addConversion(
      [=](Type type,
          SmallVectorImpl<Type> &found) -> std::optional<LogicalResult> {
        auto push = [](MlirType type, void *out) {
          static_cast<SmallVectorImpl<Type> *>(out)->push_back(unwrap(type));
        };
        auto converted = answer(convert(wrap(type), push, &found, user));
        if (!converted)
          return std::nullopt;
        return success(*converted);
      });
}

void phlTypeConverterAddMaterialization(
    PhlTypeConverter converter,
    MlirValue (*make)(MlirRewriterBase, MlirBlock, MlirOperation, MlirLocation,
                      MlirType, const MlirValue *, intptr_t, void *),
    void *user) {
  auto call = [=](OpBuilder &builder, Type type, ValueRange inputs,
                  Location location) -> Value {
    SmallVector<MlirValue> values;
    for (Value input : inputs)
      values.push_back(wrap(input));
    Block *block = builder.getInsertionBlock();
    Operation *before = builder.getInsertionPoint() == block->end()
                            ? nullptr
                            : &*builder.getInsertionPoint();
    // The conversion has no other builders than rewriters.
    auto *rewriter = static_cast<RewriterBase *>(&builder);
    return unwrap(make(wrap(rewriter), wrap(block), wrap(before),
                       wrap(location), wrap(type), values.data(), values.size(),
                       user));
  };
  unwrap(converter).addSourceMaterialization(call);
  unwrap(converter).addTargetMaterialization(
      [=](OpBuilder &builder, TypeRange types, ValueRange inputs,
          Location location) -> SmallVector<Value> {
        if (types.size() != 1)
          return {};
        Value made = call(builder, types[0], inputs, location);
        return made ? SmallVector<Value>{made} : SmallVector<Value>{};
      });
}

bool phlTypeConverterConvert(PhlTypeConverter converter, MlirType type,
                             PhlTypeCallback push, void *out) {
  SmallVector<Type> found;
  if (failed(unwrap(converter).convertType(unwrap(type), found)))
    return false;
  for (Type type : found)
    push(wrap(type), out);
  return true;
}

bool phlTypeConverterIsLegal(PhlTypeConverter converter, MlirOperation op) {
  return unwrap(converter).isLegal(unwrap(op));
}

namespace {

struct CallbackPattern : public ConversionPattern {
  CallbackPattern(const TypeConverter &converter, StringRef root,
                  unsigned benefit, MLIRContext *context,
                  PhlConversionCallback rewrite, void *user)
      : ConversionPattern(converter, root, benefit, context), rewrite(rewrite),
        user(user) {}
  CallbackPattern(const TypeConverter &converter, unsigned benefit,
                  MLIRContext *context, PhlConversionCallback rewrite,
                  void *user)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), benefit, context),
        rewrite(rewrite), user(user) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<MlirValue> values;
    SmallVector<intptr_t> sizes;
    for (ValueRange operand : operands) {
      sizes.push_back(operand.size());
      for (Value value : operand)
        values.push_back(wrap(value));
    }
    return success(rewrite(wrap(op), values.data(), sizes.data(), sizes.size(),
                           wrap(static_cast<RewriterBase *>(&rewriter)), user));
  }

  PhlConversionCallback rewrite;
  void *user;
};

} // namespace

void phlConversionPatternAdd(MlirRewritePatternSet patterns, MlirStringRef name,
                             unsigned benefit, MlirContext context,
                             PhlTypeConverter converter,
                             PhlConversionCallback rewrite, void *user) {
  if (unwrap(name).empty())
    unwrap(patterns)->add<CallbackPattern>(unwrap(converter), benefit,
                                           unwrap(context), rewrite, user);
  else
    unwrap(patterns)->add<CallbackPattern>(unwrap(converter), unwrap(name),
                                           benefit, unwrap(context), rewrite,
                                           user);
}

void phlConversionReplace(MlirRewriterBase rewriter, MlirOperation op,
                          const MlirValue *values, const intptr_t *sizes,
                          intptr_t count) {
  SmallVector<Value> all = flat(values, sizes, count);
  conversion(rewriter).replaceOpWithMultiple(unwrap(op),
                                             groups(all, sizes, count));
}

void phlConversionErase(MlirRewriterBase rewriter, MlirOperation op) {
  conversion(rewriter).eraseOp(unwrap(op));
}

bool phlConversionMoveRegion(MlirRewriterBase raw, PhlTypeConverter converter,
                             MlirOperation op, MlirOperation to,
                             intptr_t region) {
  ConversionPatternRewriter &rewriter = conversion(raw);
  Region &from = unwrap(op)->getRegion(region);
  Region &target = unwrap(to)->getRegion(region);
  rewriter.inlineRegionBefore(from, target, target.end());
  return target.empty() ||
         succeeded(rewriter.convertRegionTypes(&target, unwrap(converter)));
}

MlirOperation phlConversionRetype(MlirRewriterBase raw,
                                  PhlTypeConverter rawConverter,
                                  MlirOperation rawOp, const MlirValue *values,
                                  const intptr_t *sizes, intptr_t count,
                                  MlirStringCallback fault, void *user) {
  ConversionPatternRewriter &rewriter = conversion(raw);
  TypeConverter &converter = unwrap(rawConverter);
  Operation *op = unwrap(rawOp);
  auto fail = [&](const Twine &reason) {
    std::string text = reason.str();
    fault(wrap(StringRef(text)), user);
    return MlirOperation{nullptr};
  };
  auto written = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  SmallVector<Value> operands = flat(values, sizes, count);
  bool isSegmented =
      op->hasAttr("operandSegmentSizes") || op->hasAttr("resultSegmentSizes");
  SmallVector<Type> types;
  SmallVector<size_t> numbers;
  for (Type type : op->getResultTypes()) {
    size_t before = types.size();
    if (failed(converter.convertType(type, types)))
      return fail("the type " + written(type) + " cannot be converted");
    numbers.push_back(types.size() - before);
  }
  if (isSegmented && (operands.size() != op->getNumOperands() ||
                      types.size() != op->getNumResults()))
    return fail("it has groups of operands, one of which became several");
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(types);
  state.addSuccessors(op->getSuccessors());
  bool isConstant = op->hasTrait<OpTrait::ConstantLike>();
  for (NamedAttribute attr : op->getAttrDictionary()) {
    Attribute value = attr.getValue();
    auto typed = dyn_cast<TypedAttr>(value);
    if (isConstant && typed && !converter.isLegal(typed.getType()))
      return fail("it is a constant of type " + written(typed.getType()) +
                  ", which takes a pattern of its own");
    if (auto type = dyn_cast<TypeAttr>(value)) {
      Type converted = converter.convertType(type.getValue());
      if (!converted)
        return fail("the type " + written(type.getValue()) +
                    " cannot be converted");
      value = TypeAttr::get(converted);
    }
    state.addAttribute(attr.getName(), value);
  }
  for (size_t i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *made = rewriter.create(state);
  for (size_t i = 0; i < op->getNumRegions(); ++i)
    if (!phlConversionMoveRegion(raw, rawConverter, rawOp, wrap(made), i))
      return fail("the types of its arguments cannot be converted");
  SmallVector<ValueRange> results;
  size_t at = 0;
  for (size_t number : numbers) {
    results.push_back(made->getResults().slice(at, number));
    at += number;
  }
  rewriter.replaceOpWithMultiple(op, results);
  return wrap(made);
}

bool phlConversionApply(MlirOperation op, PhlConversionTarget target,
                        MlirRewritePatternSet patterns, bool full,
                        PhlConversionTell tell, void *user) {
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(
      unwrap(op)->getContext(), [&](Diagnostic &diagnostic) {
        // Passes on other threads have diagnostics of their own.
        if (llvm::get_threadid() != thread ||
            diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        std::string text = diagnostic.str();
        tell(true, wrap(diagnostic.getLocation()), wrap(StringRef(text)), user);
        return success();
      });
  ConversionConfig config;
  auto notify = [&](Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    tell(false, wrap(diagnostic.getLocation()), wrap(StringRef(text)), user);
  };
  config.notifyCallback = notify;
  // Constants are folded where a pipeline says so.
  config.foldingMode = DialectConversionFoldingMode::Never;
  FrozenRewritePatternSet frozen(std::move(*unwrap(patterns)));
  LogicalResult result =
      full ? applyFullConversion(unwrap(op), unwrap(target), frozen, config)
           : applyPartialConversion(unwrap(op), unwrap(target), frozen, config);
  return succeeded(result);
}
