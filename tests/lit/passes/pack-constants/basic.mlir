// RUN: phaseline-opt %s --pack-constants | FileCheck %s

// Constants from 65 bytes go into one block, equal ones once; the host keeps small ones in its code, devices none. Whoever reads constants is given the block.
// CHECK: phl.constants = dense_resource<phl_constants> : tensor<192xi8>
// CHECK-LABEL: func.func private @part(
// CHECK-SAME: %[[GIVEN:[a-z0-9]+]]: memref<192xi8> {phl.io = "constants"}
// CHECK-NOT: memref.get_global
// CHECK: %[[OWN:.*]] = memref.view %[[GIVEN]]{{.*}} to memref<2xf32>
// CHECK: memref.copy %[[OWN]],
// CHECK-NOT: memref.global{{.*}}memref<32xf32>
// CHECK: memref.global "private" constant @small
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[BLOCK:[a-z0-9]+]]: memref<192xi8> {phl.io = "constants"}
// CHECK-DAG: %[[BIG:.*]] = memref.view %[[BLOCK]]{{.*}} to memref<32xf32>
// CHECK-DAG: %[[SMALL:.*]] = memref.get_global @small
// CHECK: memref.copy %[[BIG]],
// CHECK: memref.copy %[[BIG]],
// CHECK: memref.copy %[[SMALL]],
// CHECK: tir.call_extern @part ins(%[[BLOCK]] : memref<192xi8>)
module attributes {phl.model = "net"} {
  memref.global "private" constant @weights : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64}
  func.func private @part(%y: memref<2xf32> {phl.io = "output"}) attributes {phl.target = "npu"} {
    %w = memref.get_global @weights : memref<2xf32>
    memref.copy %w, %y : memref<2xf32> to memref<2xf32>
    return
  }
  memref.global "private" constant @big : memref<32xf32> = dense<3.0> {alignment = 64 : i64}
  memref.global "private" constant @same : memref<32xf32> = dense<3.0> {alignment = 64 : i64}
  memref.global "private" constant @small : memref<2xf32> = dense<4.0> {alignment = 64 : i64}
  func.func @main(%y: memref<32xf32> {phl.io = "output"}, %z: memref<2xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %0 = memref.get_global @big : memref<32xf32>
    %1 = memref.get_global @same : memref<32xf32>
    %2 = memref.get_global @small : memref<2xf32>
    memref.copy %0, %y : memref<32xf32> to memref<32xf32>
    memref.copy %1, %y : memref<32xf32> to memref<32xf32>
    memref.copy %2, %z : memref<2xf32> to memref<2xf32>
    tir.call_extern @part outs(%z : memref<2xf32>) args [#tir.arg<outs 0>] {phl.device = "npu", returns_status, with_device}
    return
  }
}
