//===- TirCallExtern.cpp - tir.call_extern -----------------------*- C++
//-*-===//

#include "tir/Tir.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace phl::tir;

bool CallExternOp::isPassable(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t expected = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    int64_t size = type.getDimSize(i);
    // The stride of a dimension with one element is never used.
    if (size == 1)
      continue;
    if (strides[i] != expected || expected == ShapedType::kDynamic)
      return false;
    expected =
        ShapedType::isDynamic(size) ? ShapedType::kDynamic : expected * size;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

namespace {
/// Walks the arguments of one call, and notes which operands they pass.
class ArgumentVerifier {
public:
  explicit ArgumentVerifier(CallExternOp op)
      : op(op), passedIns(op.getIns().size()), passedOuts(op.getOuts().size()) {
  }

  LogicalResult verify() {
    for (auto [position, arg] : llvm::enumerate(op.getArgs()))
      if (failed(verifyArgument(arg, position)))
        return failure();
    for (auto [passed, group] :
         {std::pair(&passedIns, "ins"), std::pair(&passedOuts, "outs")})
      if (int index = passed->find_first_unset();
          index >= 0 && !(op.getKeeps() && passed == &passedIns))
        return op.emitOpError() << "does not pass " << group << " operand #"
                                << index << ": add #tir.arg<" << group << " "
                                << index << "> to args or remove the operand";
    if (op.getScratchBytes() && !passedScratch)
      return op.emitOpError() << "has scratch_bytes but does not pass scratch: "
                                 "add #tir.arg<scratch 0> to args";
    return success();
  }

private:
  LogicalResult verifyArgument(Attribute arg, int64_t position) {
    if (auto reference = dyn_cast<ArgAttr>(arg))
      return verifyReference(reference, position);
    if (auto stride = dyn_cast<StrideAttr>(arg))
      return verifyStride(stride, position);
    if (auto fields = dyn_cast<StructAttr>(arg)) {
      for (NamedAttribute field : fields.getFields())
        if (isa<ArgAttr, StrideAttr, StructAttr>(field.getValue()) &&
            failed(verifyArgument(field.getValue(), position)))
          return failure();
      return success();
    }
    if (isCLiteral(arg))
      return success();
    return op.emitOpError() << "argument " << position << " is " << arg
                            << "; expected #tir.arg, #tir.name, #tir.stride, "
                               "#tir.struct or a number";
  }

  LogicalResult verifyStride(StrideAttr arg, int64_t position) {
    OperandRange group =
        arg.getGroup() == ArgGroup::Ins ? op.getIns() : op.getOuts();
    if (arg.getIndex() >= static_cast<int64_t>(group.size()))
      return op.emitOpError()
             << "argument " << position << " is a stride of "
             << stringifyArgGroup(arg.getGroup()) << " operand #"
             << arg.getIndex() << ", but there are " << group.size();
    auto type = cast<ShapedType>(group[arg.getIndex()].getType());
    if (arg.getDim() >= type.getRank())
      return op.emitOpError()
             << "argument " << position << " is the stride of dimension "
             << arg.getDim() << " of " << type;
    return success();
  }

  LogicalResult verifyReference(ArgAttr arg, int64_t position) {
    if (arg.getGroup() == ArgGroup::Scratch) {
      passedScratch = true;
      if (!op.getScratchBytes())
        return op.emitOpError() << "argument " << position
                                << " is scratch, but the call has no "
                                   "scratch_bytes";
      return success();
    }
    OperandRange group = arg.getGroup() == ArgGroup::Scalars ? op.getScalars()
                         : arg.getGroup() == ArgGroup::Ins   ? op.getIns()
                                                             : op.getOuts();
    if (arg.getIndex() >= static_cast<int64_t>(group.size()))
      return op.emitOpError()
             << "argument " << position << " names "
             << stringifyArgGroup(arg.getGroup()) << " operand #"
             << arg.getIndex() << ", but there are " << group.size();
    if (arg.getGroup() == ArgGroup::Ins)
      passedIns.set(arg.getIndex());
    if (arg.getGroup() == ArgGroup::Outs)
      passedOuts.set(arg.getIndex());
    if (arg.getMode() != ArgMode::Offset)
      return success();
    auto memref = dyn_cast<MemRefType>(group[arg.getIndex()].getType());
    if (memref && !isa_and_nonnull<SpaceAttr>(memref.getMemorySpace()))
      return op.emitOpError()
             << "argument " << position
             << " passes an offset, but its buffer is not in a #tir.space: "
             << memref;
    return success();
  }

  CallExternOp op;
  llvm::BitVector passedIns, passedOuts;
  bool passedScratch = false;
};
} // namespace

LogicalResult CallExternOp::verify() {
  if (!isCIdentifier(getCallee()))
    return emitOpError() << "callee @" << getCallee()
                         << " is not a C identifier";
  if (auto bytes = getScratchBytes(); bytes && *bytes <= 0)
    return emitOpError() << "scratch_bytes must be positive, not " << *bytes;
  bool anyTensor = false, anyMemRef = false;
  for (auto group : {getIns(), getOuts()})
    for (Value operand : group) {
      auto memref = dyn_cast<MemRefType>(operand.getType());
      (memref ? anyMemRef : anyTensor) = true;
      if (memref && !getStrided() && !isPassable(memref))
        return emitOpError()
               << "passes a bare address, but " << memref
               << " is not known to be contiguous: copy it to a contiguous "
                  "buffer, or set `strided` if the callee is told the strides";
    }
  if (anyTensor && anyMemRef)
    return emitOpError() << "mixes tensors and memrefs; before bufferization "
                            "all must be tensors and after it all memrefs";
  return ArgumentVerifier(*this).verify();
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

void CallExternOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getInsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  for (OpOperand &operand : getOutsMutable()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (getAccumulate())
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
    effects.emplace_back(MemoryEffects::Write::get(), &operand, /*stage=*/0,
                         /*effectOnFullRegion=*/true,
                         SideEffects::DefaultResource::get());
  }
  // A call on tensors that has results is a function of its operands. One
  // without results is there for what it does to the device or the program.
  if (getNumResults() > 0)
    return;
  if (getWithDevice() || getOuts().empty()) {
    effects.emplace_back(MemoryEffects::Read::get(), DeviceResource::get());
    effects.emplace_back(MemoryEffects::Write::get(), DeviceResource::get());
  }
}

//===----------------------------------------------------------------------===//
// Bufferization
//===----------------------------------------------------------------------===//

bool CallExternOp::bufferizesToMemoryRead(OpOperand &operand,
                                          const AnalysisState &) {
  return !isDpsInit(&operand) || getAccumulate();
}

bool CallExternOp::bufferizesToMemoryWrite(OpOperand &operand,
                                           const AnalysisState &) {
  return isDpsInit(&operand);
}

AliasingValueList CallExternOp::getAliasingValues(OpOperand &operand,
                                                  const AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
}

/// Calls `note` for each stride among the arguments.
static void forEachStride(Attribute arg, function_ref<void(StrideAttr)> note) {
  if (auto stride = dyn_cast<StrideAttr>(arg))
    note(stride);
  if (auto fields = dyn_cast<StructAttr>(arg))
    for (NamedAttribute field : fields.getFields())
      forEachStride(field.getValue(), note);
}

/// True if the callee, which is told the strides of dimensions `told`, can walk
/// a buffer of `type`.
static bool isPassable(MemRefType type, const llvm::SmallBitVector &told) {
  if (told.none())
    return CallExternOp::isPassable(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t expected = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    int64_t size = type.getDimSize(i), stride = strides[i];
    if (size == 1 && !told[i])
      continue;
    if (ShapedType::isDynamic(stride) || ShapedType::isDynamic(size) ||
        (!told[i] && stride != expected))
      return false;
    expected = size * stride;
  }
  return true;
}

/// An argument with numbers in place of the strides of these buffers.
static Attribute withStrides(Attribute arg, ValueRange ins, ValueRange outs) {
  if (auto stride = dyn_cast<StrideAttr>(arg)) {
    ValueRange group = stride.getGroup() == ArgGroup::Ins ? ins : outs;
    auto type = cast<MemRefType>(group[stride.getIndex()].getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    // `isPassable` has seen that they are known.
    (void)type.getStridesAndOffset(strides, offset);
    return IntegerAttr::get(stride.getType(), strides[stride.getDim()]);
  }
  auto fields = dyn_cast<StructAttr>(arg);
  if (!fields)
    return arg;
  SmallVector<NamedAttribute> values;
  for (NamedAttribute field : fields.getFields())
    values.emplace_back(field.getName(),
                        withStrides(field.getValue(), ins, outs));
  return StructAttr::get(arg.getContext(), fields.getName(),
                         DictionaryAttr::get(arg.getContext(), values));
}

/// Allocates a contiguous buffer like `buffer`.
static FailureOr<Value> allocateLike(OpBuilder &builder, Location loc,
                                     Value buffer,
                                     const BufferizationOptions &options) {
  auto type = cast<MemRefType>(buffer.getType());
  auto contiguous =
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, i));
  return options.createAlloc(builder, loc, contiguous, sizes);
}

LogicalResult CallExternOp::bufferize(RewriterBase &rewriter,
                                      const BufferizationOptions &options,
                                      BufferizationState &state) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(*this);
  Location loc = getLoc();
  SmallVector<Value> results, copiesBack, ins, outs;
  // The strides of each operand that the callee is told.
  auto toldOf = [&](Value tensor) {
    return llvm::SmallBitVector(cast<ShapedType>(tensor.getType()).getRank());
  };
  SmallVector<llvm::SmallBitVector> told[] = {
      llvm::map_to_vector(getIns(), toldOf),
      llvm::map_to_vector(getOuts(), toldOf)};
  bool anyTold = false;
  for (Attribute arg : getArgs())
    forEachStride(arg, [&](StrideAttr stride) {
      bool isOut = stride.getGroup() == ArgGroup::Outs;
      told[isOut][stride.getIndex()].set(stride.getDim());
      anyTold = true;
    });
  // Gives the buffer to pass for a tensor operand: its own, or a contiguous
  // copy where the callee could not walk its own.
  auto passable = [&](Value tensor, const llvm::SmallBitVector &told, bool read,
                      Value &own) -> FailureOr<Value> {
    FailureOr<Value> buffer = getBuffer(rewriter, tensor, options, state);
    if (failed(buffer))
      return failure();
    own = *buffer;
    auto type = dyn_cast<MemRefType>(own.getType());
    if (!type)
      return emitOpError() << "cannot pass the unranked buffer of " << tensor;
    if (getStrided() || ::isPassable(type, told))
      return own;
    FailureOr<Value> copy = allocateLike(rewriter, loc, own, options);
    if (succeeded(copy) && read &&
        failed(options.createMemCpy(rewriter, loc, own, *copy)))
      return failure();
    return copy;
  };
  for (auto [tensor, told] : llvm::zip_equal(getIns(), told[0])) {
    Value own;
    FailureOr<Value> buffer = passable(tensor, told, /*read=*/true, own);
    if (failed(buffer))
      return failure();
    ins.push_back(*buffer);
  }
  for (auto [tensor, told] : llvm::zip_equal(getOuts(), told[1])) {
    Value &own = results.emplace_back();
    FailureOr<Value> buffer = passable(tensor, told, getAccumulate(), own);
    if (failed(buffer))
      return failure();
    outs.push_back(*buffer);
  }
  SmallVector<Value> operands(getScalars());
  llvm::append_range(operands, ins);
  llvm::append_range(operands, outs);
  OperationState call(loc, getOperationName(), operands, TypeRange(),
                      (*this)->getAttrs());
  if (anyTold) {
    SmallVector<Attribute> args = llvm::map_to_vector(
        getArgs(), [&](Attribute arg) { return withStrides(arg, ins, outs); });
    call.attributes.set(getArgsAttrName(), rewriter.getArrayAttr(args));
    call.attributes.set(getStridedAttrName(), rewriter.getUnitAttr());
  }
  rewriter.create(call);
  for (auto [own, passed] : llvm::zip_equal(results, outs))
    if (own != passed &&
        failed(options.createMemCpy(rewriter, loc, passed, own)))
      return failure();
  replaceOpWithBufferizedValues(rewriter, *this, results);
  return success();
}
