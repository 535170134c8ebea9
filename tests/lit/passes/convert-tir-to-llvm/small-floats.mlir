// RUN: phaseline-opt %s --convert-tir-to-llvm | FileCheck %s

// LLVM has no floats of 8 bits: what is passed is the address of bytes.
// CHECK: llvm.func @net_main
// CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.call @plain(%[[P]])
module attributes {phl.model = "net"} {
  llvm.func @net_main(%x: !llvm.ptr {phl.io = "output"}) {
    %0 = builtin.unrealized_conversion_cast %x : !llvm.ptr to memref<4xf8E4M3FN>
    tir.call_extern @plain outs(%0 : memref<4xf8E4M3FN>) args [#tir.arg<outs 0>]
    llvm.return
  }
}
