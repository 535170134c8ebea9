// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(separate-destinations))' | FileCheck %s

// CHECK-LABEL: func.func @shared_fill
// Each is right before its use.
// CHECK: %[[F1:.*]] = linalg.fill ins(%{{.*}}) outs(%{{.*}})
// CHECK-NEXT: linalg.matmul {{.*}} outs(%[[F1]] :
// CHECK-NEXT: %[[F2:.*]] = linalg.fill ins(%{{.*}}) outs(%{{.*}})
// CHECK-NEXT: linalg.matmul {{.*}} outs(%[[F2]] :
func.func @shared_fill(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = linalg.matmul ins(%a, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// A start value with one use stays. What is computed and read after it may have been written over is copied.
// CHECK-LABEL: func.func @computed
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK: %[[A:.*]] = linalg.matmul
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[A]] : {{.*}})
// CHECK: linalg.matmul {{.*}} outs(%[[COPY]] :
func.func @computed(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %a = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %b = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%a : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %a, %b : tensor<3x3xf32>, tensor<3x3xf32>
}

// A value that is read before it is written over only, stays.
// CHECK-LABEL: func.func @read_before
// CHECK-NOT: linalg.copy
func.func @read_before(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %a = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e2 = tensor.empty() : tensor<3x3xf32>
  %n = linalg.negf ins(%a : tensor<3x3xf32>) outs(%e2 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %b = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%a : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %n, %b : tensor<3x3xf32>, tensor<3x3xf32>
}

// Nothing is written over in an empty tensor, so that each use can have its own.
// CHECK-LABEL: func.func @shared_empty
// CHECK-COUNT-2: tensor.empty
// CHECK-NOT: tensor.empty
// CHECK: linalg.matmul {{.*}} outs(%[[A:.*]] :
// CHECK-NOT: linalg.matmul {{.*}} outs(%[[A]] :
// CHECK: linalg.matmul
func.func @shared_empty(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %e = tensor.empty() : tensor<3x3xf32>
  %a = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %b = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %a, %b : tensor<3x3xf32>, tensor<3x3xf32>
}

// Loops begin with fills of their own.
// CHECK-LABEL: func.func @shared_by_loops
// CHECK-COUNT-2: linalg.fill
func.func @shared_by_loops(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %a = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %f) -> tensor<8xf32> {
    %v = tensor.extract %x[%i] : tensor<8xf32>
    %n = tensor.insert %v into %t[%i] : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  %b = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %f) -> tensor<8xf32> {
    %v = tensor.extract %t[%i] : tensor<8xf32>
    %w = arith.negf %v : f32
    %n = tensor.insert %w into %t[%i] : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// An elementwise operation may write over its input: it reads each element where it writes it.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT: linalg.copy
// CHECK: linalg.generic {{.*}} ins(%[[A:[a-z0-9]+]] : tensor<3x3xf32>) outs(%[[A]] :
// Across a transposition that is not so.
// CHECK: %[[COPY:[a-z0-9]+]] = linalg.copy ins(%[[B:[a-z0-9]+]] : tensor<3x3xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[B]] : tensor<3x3xf32>) outs(%[[COPY]] :
#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @in_place(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %e = tensor.empty() : tensor<3x3xf32>
  %a = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %b = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3x3xf32>) outs(%a : tensor<3x3xf32>) {
  ^bb0(%i: f32, %o: f32):
    %n = arith.negf %i : f32
    linalg.yield %n : f32
  } -> tensor<3x3xf32>
  %c = linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<3x3xf32>) outs(%b : tensor<3x3xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  } -> tensor<3x3xf32>
  return %c : tensor<3x3xf32>
}

// A reshaped start value is one of that shape.
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x1xf32>
// CHECK: linalg.fill {{.*}} outs(%[[E]] : tensor<4x1xf32>)
func.func @reshaped() -> tensor<4x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = tensor.expand_shape %e [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<4x1xf32>) -> tensor<4x1xf32>
  return %f : tensor<4x1xf32>
}

// A part that is taken out of an empty tensor, filled and put back is one place of one tensor; other uses
// have others.
// CHECK-LABEL: func.func @put_back
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK: %[[OTHER:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK: tensor.extract_slice %[[E]][0, 0] [2, 4]
// CHECK: tensor.insert_slice %{{.*}} into %[[E]][0, 0] [2, 4]
// CHECK: linalg.fill {{.*}} outs(%[[OTHER]] : tensor<4x4xf32>)
func.func @put_back() -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %part = tensor.extract_slice %e[0, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%part : tensor<2x4xf32>) -> tensor<2x4xf32>
  %whole = tensor.insert_slice %filled into %e[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %whole, %f : tensor<4x4xf32>, tensor<4x4xf32>
}
