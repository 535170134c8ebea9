// RUN: phaseline-opt %s --flatten-empty-arguments | FileCheck %s
// RUN: phaseline-opt %s --flatten-empty-arguments --convert-func-to-llvm=use-bare-ptr-memref-call-conv --reconcile-unrealized-casts | FileCheck --check-prefix=LLVM %s

// Arguments without elements have one dimension; no call tells the difference.
// CHECK-LABEL: func.func @loops
// CHECK-SAME: (%[[X:.*]]: memref<0xf32> {phl.io = "input"}, %{{.*}}: memref<4xf32>, %[[Y:.*]]: memref<0xi8>)
// LLVM: llvm.func @loops(%{{.*}}: !llvm.ptr {phl.io = "input"}, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
func.func @loops(%x: memref<4x0xf32> {phl.io = "input"}, %z: memref<4xf32>, %y: memref<2x0x3xi8>) {
  return
}

// CHECK-LABEL: func.func @calls
// CHECK: tir.call_extern @f ins(%arg0 : memref<0xf32>)
func.func @calls(%x: memref<4x0xf32>) {
  tir.call_extern @f ins(%x : memref<4x0xf32>) args [#tir.arg<ins 0>]
  return
}
