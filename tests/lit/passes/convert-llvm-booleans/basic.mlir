// RUN: phaseline-opt %s --convert-llvm-booleans | FileCheck %s

// CHECK-LABEL: llvm.func @copy
// CHECK: %[[BYTE:.*]] = llvm.load %arg0 : !llvm.ptr -> i8
// CHECK: %[[TRUE:.*]] = llvm.icmp "ne" %[[BYTE]], %{{.*}} : i8
// CHECK: %[[STORED:.*]] = llvm.zext %[[TRUE]] : i1 to i8
// CHECK: llvm.store %[[STORED]], %arg1 : i8, !llvm.ptr
llvm.func @copy(%from: !llvm.ptr, %to: !llvm.ptr) {
  %0 = llvm.load %from : !llvm.ptr -> i1
  llvm.store %0, %to : i1, !llvm.ptr
  llvm.return
}
