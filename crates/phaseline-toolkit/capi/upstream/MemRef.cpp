//===- MemRef.cpp - Registration of one part of upstream ------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/MemRefMemorySlot.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"

using namespace mlir;

void phlUpstreamMemRef(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<memref::MemRefDialect>();
  memref::registerAllocationOpInterfaceExternalModels(registry);
  memref::registerBufferViewFlowOpInterfaceExternalModels(registry);
  memref::registerMemorySlotExternalModels(registry);
  memref::registerValueBoundsOpInterfaceExternalModels(registry);
  registerConvertMemRefToLLVMInterface(registry);
  memref::registerMemRefPasses();
  registerFinalizeMemRefToLLVMConversionPass();
}
