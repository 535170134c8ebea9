// RUN: phaseline-opt %s --split-input-file \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --canonicalize | FileCheck %s

// Inputs are read where they are and the result is written to a new buffer.
// CHECK-LABEL: func.func @overwrite
// CHECK-SAME: (%[[A:.*]]: memref<8xf32>) -> memref<8xf32>
func.func @overwrite(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[OUT:.*]] = memref.alloc
  // CHECK-NEXT: tir.call_extern @f ins(%[[A]] : memref<8xf32>) outs(%[[OUT]] : memref<8xf32>)
  // CHECK-SAME: args [#tir.arg<ins 0>, #tir.arg<outs 0>] {header = "f.h", returns_status}
  // CHECK-NEXT: return %[[OUT]]
  %init = tensor.empty() : tensor<8xf32>
  %r = tir.call_extern @f ins(%a : tensor<8xf32>) outs(%init : tensor<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] {header = "f.h", returns_status} -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// An overwritten value need not be kept, so the second call reuses the argument.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: (%[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>
func.func @in_place(%a: tensor<8xf32>, %b: tensor<8xf32> {bufferization.writable = true},
                    %n: i32) -> tensor<8xf32> {
  // CHECK-NOT: memref.copy
  // CHECK: tir.call_extern @f(%{{.*}} : i32) ins(%[[A]] : {{.*}}) outs(%[[B]] :
  // CHECK-NOT: memref.copy
  // CHECK: tir.call_extern @g outs(%[[B]] : {{.*}} {accumulate}
  // CHECK: return %[[B]]
  %r = tir.call_extern @f(%n : i32) ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>)
      args [#tir.arg<scalars 0>, #tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<8xf32>
  %s = tir.call_extern @g outs(%r : tensor<8xf32>) args [#tir.arg<outs 0>] {accumulate} -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// The old value is read later: with accumulate it is copied first, without it
// only a new buffer is needed.
// CHECK-LABEL: func.func @conflict
// CHECK-SAME: (%[[A:.*]]: memref<8xf32>
func.func @conflict(%a: tensor<8xf32> {bufferization.writable = true})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[ACC:.*]] = memref.alloc
  // CHECK-NEXT: memref.copy %[[A]], %[[ACC]] :
  // CHECK-NEXT: tir.call_extern @g outs(%[[ACC]]
  // CHECK-NEXT: %[[NEW:.*]] = memref.alloc
  // CHECK-NEXT: tir.call_extern @f outs(%[[NEW]] :
  // CHECK-NEXT: return %[[ACC]], %[[NEW]], %[[A]]
  %r = tir.call_extern @g outs(%a : tensor<8xf32>) args [#tir.arg<outs 0>] {accumulate} -> tensor<8xf32>
  %s = tir.call_extern @f outs(%a : tensor<8xf32>) args [#tir.arg<outs 0>] -> tensor<8xf32>
  return %r, %s, %a : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A tile with holes cannot be passed as an address: it goes through contiguous
// copies both ways. A contiguous slice goes as it is.
// CHECK-LABEL: func.func @tiles
func.func @tiles(%a: tensor<8x16xf32>, %b: tensor<8x16xf32> {bufferization.writable = true})
    -> tensor<8x16xf32> {
  // CHECK: %[[IN:.*]] = memref.subview %{{.*}}[2, 0] [4, 16] [1, 1]
  // CHECK: %[[OUT:.*]] = memref.subview %{{.*}}[0, 4] [8, 8] [1, 1]
  // CHECK: %[[TMP:.*]] = memref.alloc() {{.*}}: memref<8x8xf32>
  // CHECK: tir.call_extern @f ins(%[[IN]] : memref<4x16xf32, strided<[16, 1], offset: 32>>) outs(%[[TMP]] : memref<8x8xf32>)
  // CHECK: memref.copy %[[TMP]], %[[OUT]]
  %in = tensor.extract_slice %a[2, 0] [4, 16] [1, 1] : tensor<8x16xf32> to tensor<4x16xf32>
  %out = tensor.extract_slice %b[0, 4] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
  %r = tir.call_extern @f ins(%in : tensor<4x16xf32>) outs(%out : tensor<8x8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<8x8xf32>
  %s = tensor.insert_slice %r into %b[0, 4] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<8x16xf32>
  return %s : tensor<8x16xf32>
}

// -----

// A callee that is told the strides gets the tile itself.
// CHECK-LABEL: func.func @strided
func.func @strided(%a: tensor<8x?xf32>, %n: index) -> tensor<8x?xf32> {
  // CHECK: %[[IN:.*]] = memref.subview
  // CHECK: tir.call_extern @f ins(%[[IN]] : memref<8x?xf32, strided<[?, 1], offset: 2>>)
  %in = tensor.extract_slice %a[0, 2] [8, %n] [1, 1] : tensor<8x?xf32> to tensor<8x?xf32>
  %init = tensor.empty(%n) : tensor<8x?xf32>
  %r = tir.call_extern @f ins(%in : tensor<8x?xf32>) outs(%init : tensor<8x?xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] {strided} -> tensor<8x?xf32>
  return %r : tensor<8x?xf32>
}

// -----

// The copy of a dynamic tile has its size.
// CHECK-LABEL: func.func @dynamic_copy
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
func.func @dynamic_copy(%a: tensor<8x?xf32>, %n: index) -> tensor<4xf32> {
  // CHECK: %[[IN:.*]] = memref.subview
  // CHECK: %[[TMP:.*]] = memref.alloc(%[[N]]) {{.*}}: memref<8x?xf32>
  // CHECK: memref.copy %[[IN]], %[[TMP]]
  // CHECK: tir.call_extern @f ins(%[[TMP]] : memref<8x?xf32>)
  %in = tensor.extract_slice %a[0, 2] [8, %n] [1, 1] : tensor<8x?xf32> to tensor<8x?xf32>
  %init = tensor.empty() : tensor<4xf32>
  %r = tir.call_extern @f ins(%in : tensor<8x?xf32>) outs(%init : tensor<4xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A stride that is passed becomes a number, and the callee gets the tile itself. Dimensions whose stride it
// is not told have to be adjacent.
// CHECK-LABEL: func.func @told
func.func @told(%a: tensor<8x16xf32>, %b: tensor<4x8x16xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[IN:.*]] = memref.subview
  // CHECK: %[[OTHER:.*]] = memref.subview
  // CHECK: memref.copy %[[OTHER]], %[[TMP:.*]] :
  // CHECK: tir.call_extern @f ins(%[[IN]], %[[TMP]] : memref<4x4xf32, strided<[16, 1], offset: 2>>, memref<4x2x4xf32>)
  // CHECK-SAME: args [#tir.struct<"s", {step = 16 : i32}>, 8, #tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>, 4 : i32] {strided}
  %in = tensor.extract_slice %a[0, 2] [4, 4] [1, 1] : tensor<8x16xf32> to tensor<4x4xf32>
  %other = tensor.extract_slice %b[0, 1, 2] [4, 2, 4] [1, 1, 1] : tensor<4x8x16xf32> to tensor<4x2x4xf32>
  %init = tensor.empty() : tensor<4x4xf32>
  %r = tir.call_extern @f ins(%in, %other : tensor<4x4xf32>, tensor<4x2x4xf32>) outs(%init : tensor<4x4xf32>)
      args [#tir.struct<"s", {step = #tir.stride<ins 0, 0, i32>}>, #tir.stride<ins 1, 0, i64>,
            #tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>, #tir.stride<outs 0, 0, i32>] -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
