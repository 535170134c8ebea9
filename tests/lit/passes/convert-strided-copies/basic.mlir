// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(convert-strided-copies))' | FileCheck %s

// CHECK-LABEL: func.func @from_holes
// CHECK: %[[PART:.*]] = memref.subview
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%[[PART]] : {{.*}}) outs(%arg1 :
func.func @from_holes(%x: memref<4x8xf32>, %y: memref<4x4xf32>) {
  %s = memref.subview %x[0, 2] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 2>>
  memref.copy %s, %y : memref<4x4xf32, strided<[8, 1], offset: 2>> to memref<4x4xf32>
  return
}

// CHECK-LABEL: func.func @into_holes
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%arg1 : {{.*}}) outs(%{{.*}} : memref<4x4xi8, strided<[8, 1], offset: 2>>)
func.func @into_holes(%x: memref<4x8xi8>, %y: memref<4x4xi8>) {
  %s = memref.subview %x[0, 2] [4, 4] [1, 1] : memref<4x8xi8> to memref<4x4xi8, strided<[8, 1], offset: 2>>
  memref.copy %y, %s : memref<4x4xi8> to memref<4x4xi8, strided<[8, 1], offset: 2>>
  return
}
