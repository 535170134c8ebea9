// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=dsp_in copy-out=dsp_out wait=dsp_wait timeout=20})' | FileCheck %s

// Values of programs on the device are passed as they are; those that the host reads come down, and the wait has a limit.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<8xf32, #tir.space<"dram">> {phl.bound = "dsp"}, %[[Y:.*]]: memref<8xf32, #tir.space<"dram">> {phl.bound = "dsp"}, %[[Z:.*]]: memref<8xf32>)
// CHECK: %[[H:.*]] = memref.alloc() : memref<8xf32>
// CHECK: tir.call_extern @dsp_0 ins(%[[X]] {{.*}} outs(%[[Y]]
// CHECK-NEXT: tir.call_extern @[[OUT:dsp_copy_out.*]] ins(%[[X]] {{.*}} outs(%[[H]]
// CHECK-NEXT: tir.call_extern @[[WAIT:dsp_wait.*]] ins(%[[H]]
// CHECK-NEXT: linalg.exp ins(%[[H]] {{.*}} outs(%[[Z]]
// CHECK-NEXT: return
// CHECK: func.func private @[[WAIT]]()
// CHECK: tir.call_extern @dsp_wait args [20] {returns_status, with_device}
module attributes {phl.devices = ["dsp"]} {
  func.func private @dsp_0(%x: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
    tir.call_extern @relu ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
    return
  }
  func.func @main(%x: memref<8xf32> {phl.bound = "dsp"}, %y: memref<8xf32> {phl.bound = "dsp"}, %z: memref<8xf32>)
      attributes {phl.target = "llvm"} {
    tir.call_extern @dsp_0 ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp"}
    linalg.exp ins(%x : memref<8xf32>) outs(%z : memref<8xf32>)
    return
  }
}
