// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=dsp_in copy-out=dsp_out wait=dsp_wait})' | FileCheck %s

func.func private @dsp_0(%x: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
  tir.call_extern @relu ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  return
}

// The host may read what is on its way up, and does what it can before it waits. It waits before it writes there,
// before it reads what comes down, and at the end. Buffers are operands until nothing touches them any more.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK: %[[T:.*]] = memref.alloc() : memref<8xf32>
// CHECK: linalg.exp ins(%[[X]] {{.*}} outs(%[[T]]
// CHECK-NEXT: tir.call_extern @dsp_copy_in_{{.*}} ins(%[[T]]
// CHECK-NEXT: tir.call_extern @dsp_0
// CHECK-NEXT: linalg.exp ins(%[[T]] {{.*}} outs(%[[Y]]
// CHECK-NEXT: tir.call_extern @[[WAIT:dsp_wait_.*]] ins(%[[T]] : memref<8xf32>) args [] {keeps, phl.device = "dsp", returns_status, with_device}
// CHECK-NEXT: linalg.exp ins(%[[Y]] {{.*}} outs(%[[T]]
// CHECK-NEXT: tir.call_extern @dsp_copy_out_{{.*}} outs(%[[D:.*]] : memref<8xf32>)
// CHECK-NEXT: tir.call_extern @[[WAIT]] ins(%[[D]]
// CHECK-NEXT: linalg.add ins(%[[D]], %[[T]]
// CHECK-NEXT: {{^ +}}return
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%t : memref<8xf32>)
  tir.call_extern @dsp_0 ins(%t : memref<8xf32>) outs(%d : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  linalg.exp ins(%t : memref<8xf32>) outs(%y : memref<8xf32>)
  linalg.exp ins(%y : memref<8xf32>) outs(%t : memref<8xf32>)
  linalg.add ins(%d, %t : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// Nothing is under way when a function ends, also where no memory of the host is touched.
// CHECK-LABEL: func.func @other
// CHECK: tir.call_extern @dsp_copy_out
// CHECK-NEXT: tir.call_extern @[[WAIT]] ins(%{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>)
// CHECK-NEXT: {{^ +}}return
func.func @other(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.call_extern @dsp_0 ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  return
}

// CHECK: func.func private @[[WAIT]]() attributes {phl.target = "dsp", phl.transfer = "wait"}
// CHECK-NEXT: tir.call_extern @dsp_wait args [] {returns_status, with_device}
