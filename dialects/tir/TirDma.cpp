//===- TirDma.cpp - Buffers and transfers of tir -----------------*- C++
//-*-===//

#include "tir/Tir.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace phl::tir;

/// Greatest rank of a strided transfer of the supported DMA engines.
static constexpr int64_t kMaxDmaRank = 4;

//===----------------------------------------------------------------------===//
// Assembly of the channel: a number or an index value
//===----------------------------------------------------------------------===//

static ParseResult
parseChannel(OpAsmParser &parser,
             std::optional<OpAsmParser::UnresolvedOperand> &operand,
             IntegerAttr &number) {
  OpAsmParser::UnresolvedOperand value;
  OptionalParseResult parsed = parser.parseOptionalOperand(value);
  if (parsed.has_value()) {
    operand = value;
    return *parsed;
  }
  int64_t channel;
  if (parser.parseInteger(channel))
    return failure();
  number = parser.getBuilder().getI64IntegerAttr(channel);
  return success();
}

static void printChannel(OpAsmPrinter &printer, Operation *, Value operand,
                         IntegerAttr number) {
  if (operand)
    printer << operand;
  else
    printer << number.getInt();
}

#define GET_OP_CLASSES
#include "tir/TirOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Checks one end of a transfer.
static LogicalResult verifyEnd(Operation *op, StringRef name, MemRefType type) {
  if (type.getRank() > kMaxDmaRank)
    return op->emitOpError() << name << " has rank " << type.getRank()
                             << ", but a transfer has at most " << kMaxDmaRank
                             << " dimensions: collapse or loop";
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return op->emitOpError()
           << name << " needs static strides, but is " << type;
  if (!type.getElementType().isIntOrFloat())
    return op->emitOpError()
           << name << " has elements of type " << type.getElementType()
           << ", but a transfer copies numbers";
  return success();
}

template <typename OpTy>
static LogicalResult verifyTransfer(OpTy op, bool converts) {
  MemRefType source = op.getSource().getType();
  MemRefType target = op.getTarget().getType();
  if (failed(verifyEnd(op, "source", source)) ||
      failed(verifyEnd(op, "target", target)))
    return failure();
  if (!converts && source.getElementType() != target.getElementType())
    return op.emitOpError()
           << "copies " << source.getElementType() << " to "
           << target.getElementType() << "; element types must be equal";
  if (failed(verifyCompatibleShape(source, target)))
    return op.emitOpError() << "copies shape [" << source.getShape() << "] to ["
                            << target.getShape() << "]; shapes must be equal";
  if (static_cast<bool>(op.getChannel()) == op.getStaticChannel().has_value())
    return op.emitOpError() << "needs one channel, either a number or a value";
  return success();
}

LogicalResult DmaStartOp::verify() {
  if (failed(verifyTransfer(*this, getGiven().has_value())))
    return failure();
  int64_t count = getWith().size();
  if (!getGiven())
    return count == 0 ? success()
                      : emitOpError() << "has arrays, but no `given` that "
                                         "says what they are";
  DictionaryAttr given = *getGiven();
  for (NamedAttribute entry : given) {
    auto array = dyn_cast<ArgAttr>(entry.getValue());
    if (array &&
        (array.getGroup() != ArgGroup::Ins || array.getIndex() >= count))
      return emitOpError() << "gives " << entry.getName() << " as " << array
                           << ", but has " << count << " arrays";
    if (!array && !isCLiteral(entry.getValue()))
      return emitOpError() << "gives " << entry.getName() << " as "
                           << entry.getValue()
                           << "; expected a number or #tir.arg<ins N>";
  }
  return success();
}
LogicalResult DmaCopyOp::verify() {
  return verifyTransfer(*this, /*converts=*/false);
}

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// A transfer reads one buffer, writes another and uses a channel.
template <typename OpTy>
static void getTransferEffects(OpTy op, Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &op.getSourceMutable(),
                       SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &op.getTargetMutable(),
                       /*stage=*/0, /*effectOnFullRegion=*/true,
                       SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Read::get(), DeviceResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), DeviceResource::get());
}

void DmaStartOp::getEffects(Effects &effects) {
  for (OpOperand &operand : getWithMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         SideEffects::DefaultResource::get());
  getTransferEffects(*this, effects);
}

void DmaCopyOp::getEffects(Effects &effects) {
  getTransferEffects(*this, effects);
}

void DmaWaitOp::getEffects(Effects &effects) {
  // The buffers of the token are not known here, so any may be used.
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get(), DeviceResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), DeviceResource::get());
}

//===----------------------------------------------------------------------===//
// Planned buffers
//===----------------------------------------------------------------------===//

/// The nearest declaration of pool `name` around `op`.
static PoolAttr findPool(Operation *op, StringRef name) {
  for (Operation *scope = op->getParentOp(); scope;
       scope = scope->getParentOp())
    if (auto pools = scope->getAttrOfType<ArrayAttr>(kPoolsAttrName))
      for (Attribute element : pools)
        if (auto pool = dyn_cast<PoolAttr>(element);
            pool && pool.getName() == name)
          return pool;
  return {};
}

/// Bytes from the first element of `type` to the end of its last, or nothing if
/// its layout is dynamic.
static std::optional<int64_t> getExtent(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic) ||
      ShapedType::isDynamic(offset) || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    last += (size - 1) * stride;
  int64_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
  return type.getNumElements() == 0 ? 0 : (last + 1) * bytes;
}

LogicalResult BufferOp::verify() {
  MemRefType type = getType();
  auto space = dyn_cast_or_null<SpaceAttr>(type.getMemorySpace());
  if (!space)
    return emitOpError() << "result must be in a #tir.space, but is " << type;
  std::optional<int64_t> extent = getExtent(type);
  if (!extent)
    return emitOpError() << "result needs static strides and numeric elements, "
                            "but is "
                         << type;
  PoolAttr pool = findPool(*this, space.getName());
  if (!pool)
    return success();
  int64_t offset = getOffset();
  if (offset % pool.getAlignment() != 0)
    return emitOpError() << "offset " << offset << " is not a multiple of the "
                         << pool.getAlignment() << " bytes that pool \""
                         << pool.getName() << "\" asks for";
  if (*extent > pool.getBytes() || offset > pool.getBytes() - *extent)
    return emitOpError() << "bytes " << offset << " to " << offset + *extent
                         << " do not fit pool \"" << pool.getName() << "\" of "
                         << pool.getBytes() << " bytes";
  return success();
}
