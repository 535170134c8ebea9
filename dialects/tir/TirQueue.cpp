//===- TirQueue.cpp - Tickets of tir ----------------------------*- C++ -*-===//

#include "tir/Tir.h"

using namespace mlir;
using namespace phl::tir;

/// Checks that there is a place for the ticket.
template <typename OpTy> static LogicalResult verifySlot(OpTy op) {
  MemRefType type = cast<MemRefType>(op.getTickets().getType());
  if (!type.hasStaticShape())
    return op.emitOpError()
           << "has tickets of type " << type << ", whose number is not known";
  int64_t slot = op.getSlot(), count = type.getDimSize(0);
  if (slot >= count)
    return op.emitOpError() << "has slot " << slot << ", but there "
                            << (count == 1 ? "is " : "are ") << count
                            << (count == 1 ? " ticket" : " tickets");
  return success();
}

LogicalResult SubmitOp::verify() { return verifySlot(*this); }
LogicalResult WaitOp::verify() { return verifySlot(*this); }

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void getQueueEffects(Effects &effects) {
  // Started work may use any buffer.
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get(), DeviceResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), DeviceResource::get());
}

void SubmitOp::getEffects(Effects &effects) { getQueueEffects(effects); }
void WaitOp::getEffects(Effects &effects) { getQueueEffects(effects); }
