// RUN: phaseline-opt %s --convert-llvm-booleans | FileCheck %s

// Bytes are bytes, and vectors of truth values are nothing that loops of elements have.

// CHECK-LABEL: llvm.func @others
// CHECK: llvm.load %arg0 : !llvm.ptr -> i8
// CHECK: llvm.store %{{.*}}, %arg1 : i8, !llvm.ptr
// CHECK: llvm.load %arg0 : !llvm.ptr -> vector<8xi1>
// CHECK-NOT: llvm.icmp
llvm.func @others(%from: !llvm.ptr, %to: !llvm.ptr) {
  %0 = llvm.load %from : !llvm.ptr -> i8
  llvm.store %0, %to : i8, !llvm.ptr
  %1 = llvm.load %from : !llvm.ptr -> vector<8xi1>
  llvm.store %1, %to : vector<8xi1>, !llvm.ptr
  llvm.return
}
