// RUN: phaseline-opt %s --convert-tir-to-llvm | FileCheck %s

// The device comes first, a status other than 0 leaves the function at once, and both change its signature.
// CHECK-DAG: llvm.func @plain(!llvm.ptr, !llvm.ptr)
// CHECK-DAG: llvm.func @net_part(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: llvm.func @net_main({{.*}}, %[[DEVICES:[a-z0-9]+]]: !llvm.ptr {phl.io = "devices"}) -> i32
// CHECK: %[[P:.*]] = llvm.getelementptr %[[DEVICES]][0]
// CHECK: %[[DEVICE:.*]] = llvm.load %[[P]]
// CHECK: %[[SEVEN:.*]] = llvm.mlir.constant(7 : i32)
// CHECK: %[[STATUS:.*]] = llvm.call @net_part(%[[DEVICE]], %[[SEVEN]],
// CHECK: %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]],
// CHECK: llvm.cond_br %[[OK]], ^[[NEXT:.*]], ^[[LEAVE:.*]](%[[STATUS]] : i32)
// CHECK: ^[[NEXT]]:
// CHECK: llvm.call @plain(
// CHECK: ^[[LEAVE]](%[[CODE:.*]]: i32):
// CHECK: llvm.return %[[CODE]]
module attributes {phl.devices = ["npu"], phl.model = "net"} {
  llvm.func @net_main(%x: !llvm.ptr {phl.io = "input"}, %y: !llvm.ptr {phl.io = "output"}) {
    %0 = builtin.unrealized_conversion_cast %x : !llvm.ptr to memref<4xf32>
    %1 = builtin.unrealized_conversion_cast %y : !llvm.ptr to memref<4xf32>
    tir.call_extern @net_part ins(%0 : memref<4xf32>) outs(%1 : memref<4xf32>)
        args [7 : i32, #tir.arg<ins 0>, #tir.arg<outs 0>] {phl.device = "npu", returns_status, with_device}
    tir.call_extern @plain ins(%0 : memref<4xf32>) outs(%1 : memref<4xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
    llvm.return
  }
}
