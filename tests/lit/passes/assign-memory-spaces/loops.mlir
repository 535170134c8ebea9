// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=dsp_in copy-out=dsp_out})' | FileCheck %s

func.func private @step(%x: memref<8xf32>, %s: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
  tir.call_extern @f ins(%x, %s : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>] {with_device}
  return
}

// A state that only the device uses goes up before the loop and comes down behind it; what is only read too.
// CHECK-LABEL: func.func @state
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[S:.*]]: memref<8xf32>)
// CHECK: tir.call_extern @dsp_copy_in_{{.*}} ins(%[[X]]
// CHECK-NEXT: tir.call_extern @dsp_copy_in_{{.*}} ins(%[[S]]
// CHECK-NEXT: scf.for
// CHECK-NEXT: tir.call_extern @step
// CHECK-NEXT: {{^ +}}}{{ *$}}
// CHECK-NEXT: tir.call_extern @dsp_copy_out_{{.*}} outs(%[[S]]
// CHECK-NEXT: {{^ +}}return
func.func @state(%x: memref<8xf32>, %s: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    tir.call_extern @step ins(%x, %s : memref<8xf32>, memref<8xf32>) outs(%s : memref<8xf32>)
        args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>] {with_device, phl.device = "dsp"}
  }
  return
}

// A buffer that both use is on the host at the ends of each iteration.
// CHECK-LABEL: func.func @both
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[S:.*]]: memref<8xf32>)
// CHECK: tir.call_extern @dsp_copy_in_{{.*}} ins(%[[X]]
// CHECK-NEXT: scf.for
// CHECK-NEXT: tir.call_extern @dsp_copy_in_{{.*}} ins(%[[S]]
// CHECK-NEXT: tir.call_extern @step
// CHECK-NEXT: tir.call_extern @dsp_copy_out_{{.*}} outs(%[[S]]
// CHECK-NEXT: linalg.exp ins(%[[S]] {{.*}} outs(%[[S]]
// CHECK-NEXT: {{^ +}}}{{ *$}}
// CHECK-NEXT: {{^ +}}return
func.func @both(%x: memref<8xf32>, %s: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    tir.call_extern @step ins(%x, %s : memref<8xf32>, memref<8xf32>) outs(%s : memref<8xf32>)
        args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>] {with_device, phl.device = "dsp"}
    linalg.exp ins(%s : memref<8xf32>) outs(%s : memref<8xf32>)
  }
  return
}

// A part that the host writes needs the rest of the buffer.
// CHECK-LABEL: func.func @part
// CHECK: tir.call_extern @step
// CHECK-NEXT: tir.call_extern @dsp_copy_out
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: tir.call_extern @dsp_copy_in
// CHECK-NEXT: tir.call_extern @step
func.func @part(%x: memref<8xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8xf32>
  %half = memref.subview %t[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  tir.call_extern @step ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%t : memref<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>] {with_device, phl.device = "dsp"}
  linalg.fill ins(%zero : f32) outs(%half : memref<4xf32, strided<[1], offset: 4>>)
  tir.call_extern @step ins(%t, %x : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>] {with_device, phl.device = "dsp"}
  return
}
