//===- TirDialect.td - The tir dialect --------------------------*- tablegen -*-===//

#ifndef PHL_TIR_DIALECT
#define PHL_TIR_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tir_Dialect : Dialect {
  let name = "tir";
  let cppNamespace = "::phl::tir";
  let summary = "Loop programs of accelerators, beside the upstream dialects";
  let description = [{
    Loop programs are written in upstream dialects (linalg, tensor, scf, memref,
    arith). `tir` adds what these lack when part of the program is a C library
    or a device:

    - `tir.call_extern` calls a C function in destination-passing style. It is
      the same operation on tensors before bufferization and on memrefs after.
    - `tir.dma_start`, `tir.dma_wait` and `tir.dma_copy` move data between
      memory spaces.
    - `#tir.space` names a memory space, `#tir.pool` declares how large it is,
      and `tir.buffer` is a planned place in it.

    The discardable attribute `tir.pools` on a module or function is an array of
    `#tir.pool` with distinct names.
  }];

  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // PHL_TIR_DIALECT
