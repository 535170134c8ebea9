// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=vecdsp space=dram copy-in=dsp_in copy-out=dsp_out wait=dsp_wait})' | FileCheck %s

// Another target's calls are in the host's memory.
// CHECK-NOT: tir.space
// CHECK-NOT: dsp_
func.func private @npu_0(%x: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "npu"} {
  tir.call_extern @relu ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  return
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.call_extern @npu_0 ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, phl.device = "npu"}
  linalg.exp ins(%y : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}
