// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=dsp_in copy-out=dsp_out wait=dsp_wait submit=dsp_submit wait-for=dsp_wait_for queues=2 select=dsp_select after=dsp_after})' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=dsp_in copy-out=dsp_out wait=dsp_wait timeout=5 submit=dsp_submit wait-for=dsp_wait_for})' | FileCheck --check-prefix=ONE %s

func.func private @stem(%x: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
  tir.call_extern @relu ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  return
}
func.func private @join(%x: memref<8xf32>, %z: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
  tir.call_extern @add ins(%x, %z : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>] {with_device}
  return
}
// Two branches behind a stem are on two queues, and what joins them is behind the later. Results come down as soon as
// they are made, and the host waits for the one that it reads; the buffers of what is done then are kept until there.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK: %[[T:.*]] = memref.alloc() : memref<4xi64>
// CHECK: tir.call_extern @[[SELECT0:dsp_select_0.*]] args [] {phl.device = "dsp", phl.queue = 0 : i64
// CHECK-NEXT: tir.call_extern @dsp_copy_in{{.*}} ins(%[[X]]
// CHECK-NEXT: tir.call_extern @stem {{.*}} {phl.device = "dsp", phl.queue = 0 : i64
// CHECK-NEXT: tir.submit @[[SUBMIT0:dsp_submit_0.*]] queue 0 to %[[T]][0]
// CHECK-NEXT: tir.call_extern @stem {{.*}} {phl.device = "dsp", phl.queue = 0 : i64
// CHECK-NEXT: tir.submit @[[SUBMIT0]] queue 0 to %[[T]][1]
// CHECK-NEXT: tir.call_extern @dsp_copy_out{{.*}} outs(%[[B:.*]] : memref<8xf32>) {{.*}} phl.queue = 0 : i64
// CHECK-NEXT: tir.submit @[[SUBMIT0]] queue 0 to %[[T]][2]
// CHECK-NEXT: tir.wait @[[AFTER1:dsp_after_1.*]] queue 1 for %[[T]][0]
// CHECK-NEXT: tir.call_extern @stem {{.*}} {phl.device = "dsp", phl.queue = 1 : i64
// CHECK-NEXT: tir.wait @[[AFTER1]] queue 1 for %[[T]][1]
// CHECK-NEXT: tir.call_extern @join {{.*}} {phl.device = "dsp", phl.queue = 1 : i64
// CHECK-NEXT: tir.call_extern @dsp_copy_out{{.*}} outs(%[[D:.*]] : memref<8xf32>) {{.*}} phl.queue = 1 : i64
// CHECK-NEXT: tir.submit @[[SUBMIT1:dsp_submit_1.*]] queue 1 to %[[T]][3]
// CHECK-NEXT: tir.wait @[[FOR:dsp_wait_for.*]] for %[[T]][2] : memref<4xi64> keeps(%[[X]], %[[B]] : memref<8xf32>, memref<8xf32>)
// CHECK-NEXT: linalg.exp ins(%[[B]]
// CHECK-NEXT: tir.wait @[[FOR]] for %[[T]][3] : memref<4xi64> keeps(%[[D]] : memref<8xf32>)
// CHECK-NEXT: linalg.add ins(%[[D]]
// CHECK-NEXT: tir.call_extern @dsp_wait{{.*}} args []
// CHECK-NEXT: {{^ +}}return

// With one queue there is no more to it than to wait for a part.
// ONE-LABEL: func.func @main
// ONE-NOT: phl.queue
// ONE: tir.call_extern @stem
// ONE: tir.call_extern @stem
// ONE-NEXT: tir.call_extern @dsp_copy_out{{.*}} outs(%[[B:.*]] : memref<8xf32>)
// ONE-NEXT: tir.submit @dsp_submit_0{{.*}} queue 0 to %[[T:.*]][0] : memref<2xi64>
// ONE-NEXT: tir.call_extern @stem
// ONE-NEXT: tir.call_extern @join
// ONE-NEXT: tir.call_extern @dsp_copy_out{{.*}} outs(%[[D:.*]] : memref<8xf32>)
// ONE-NEXT: tir.submit @dsp_submit_0{{.*}} queue 0 to %[[T]][1]
// ONE-NEXT: tir.wait @dsp_wait_for{{.*}} for %[[T]][0] {{.*}} keeps(%{{.*}}, %[[B]]
// ONE-NEXT: linalg.exp ins(%[[B]]
// ONE-NEXT: tir.wait @dsp_wait_for{{.*}} for %[[T]][1] {{.*}} keeps(%[[D]]
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  tir.call_extern @stem ins(%x : memref<8xf32>) outs(%a : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  tir.call_extern @stem ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  tir.call_extern @stem ins(%a : memref<8xf32>) outs(%c : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  tir.call_extern @join ins(%b, %c : memref<8xf32>, memref<8xf32>) outs(%d : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  linalg.exp ins(%b : memref<8xf32>) outs(%y : memref<8xf32>)
  linalg.add ins(%d, %y : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// In front of a loop in which the device works the host waits for all, and behind it.
// CHECK-LABEL: func.func @loop
// CHECK: tir.call_extern @stem {{.*}} phl.queue = 0
// CHECK: tir.call_extern @[[WAIT:dsp_wait_[0-9]+]]
// CHECK-NEXT: scf.for
// CHECK-NOT: phl.queue
// CHECK: {{^ +}}}
// CHECK-NEXT: tir.call_extern @[[WAIT]]
// CHECK-NEXT: tir.call_extern @dsp_select_1
// CHECK-NEXT: tir.call_extern @stem {{.*}} phl.queue = 1
func.func @loop(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  tir.call_extern @stem ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  tir.call_extern @stem ins(%x : memref<8xf32>) outs(%z : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  scf.for %i = %c0 to %c9 step %c1 {
    tir.call_extern @stem ins(%y : memref<8xf32>) outs(%z : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp"}
  }
  tir.call_extern @stem ins(%z : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  return
}

// A function that is called in the loop has an order of its own, on both queues: work that the loop has started is done
// before, and at the end of the turn. One that uses a single queue itself waits before the loop all the same.
// CHECK-LABEL: func.func @turns
// CHECK: tir.call_extern @stem {{.*}} phl.queue = 0
// CHECK: tir.call_extern @[[WAIT]]
// CHECK-NEXT: scf.for
// CHECK: tir.call_extern @stem
// CHECK-NEXT: tir.call_extern @[[WAIT]]
// CHECK-NEXT: func.call @main
// CHECK-NEXT: tir.call_extern @stem
// CHECK-NEXT: tir.call_extern @[[WAIT]]
// CHECK-NEXT: {{^ +}}}
// CHECK-NEXT: tir.call_extern @[[WAIT]]
func.func @turns(%x: memref<8xf32>, %y: memref<8xf32>, %p: memref<8xf32>, %q: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  tir.call_extern @stem ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
      {with_device, returns_status, phl.device = "dsp"}
  scf.for %i = %c0 to %c9 step %c1 {
    tir.call_extern @stem ins(%y : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp"}
    func.call @main(%p, %q) : (memref<8xf32>, memref<8xf32>) -> ()
    tir.call_extern @stem ins(%y : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
        {with_device, returns_status, phl.device = "dsp"}
  }
  return
}

// CHECK: func.func private @[[SUBMIT1]](%[[P:.*]]: memref<1xi64> {phl.io = "output"}) attributes {phl.target = "dsp", phl.transfer = "ticket"}
// CHECK-NEXT: tir.call_extern @dsp_select args [1]
// CHECK-NEXT: tir.call_extern @dsp_submit outs(%[[P]]
// ONE: func.func private @dsp_submit_0{{.*}}(%[[P:.*]]: memref<1xi64>
// ONE-NEXT: tir.call_extern @dsp_submit outs(%[[P]]
// ONE: func.func private @dsp_wait_for{{.*}}(%[[P:.*]]: memref<1xi64> {phl.io = "input"})
// ONE: %[[V:.*]] = memref.load %[[P]]
// ONE-NEXT: tir.call_extern @dsp_wait_for(%[[V]] : i64) args [#tir.arg<scalars 0>, 5]
