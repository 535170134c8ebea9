// RUN: phaseline-opt %s --convert-functions-to-dps | FileCheck %s

// Arguments become buffers to read, results buffers to write, after all arguments; calls of a device's function become
// calls of C with its device and its status. What is no tensor stays.
// CHECK: module attributes {phl.devices = ["npu"]}
// CHECK-LABEL: func.func private @part(
// CHECK-SAME: %[[X:.*]]: memref<4xf32> {phl.io = "input"}, %[[Y:.*]]: memref<4xf32> {phl.io = "output"})
// CHECK: %[[IN:.*]] = bufferization.to_tensor %[[X]] restrict
// CHECK: bufferization.materialize_in_destination %[[IN]] in restrict writable %[[Y]]
// CHECK-NEXT: return{{$}}
func.func private @part(%x: tensor<4xf32>) -> tensor<4xf32> attributes {phl.target = "npu"} {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %{{.*}}: memref<4xf32> {phl.io = "input", phl.name = "image"}, %{{.*}}: i32,
// CHECK-SAME: %[[OUT:.*]]: memref<4xf32> {phl.io = "output", phl.name = "scores"})
// CHECK: %[[NEW:.*]] = tensor.empty()
// CHECK: %[[R:.*]] = tir.call_extern @part ins(%{{.*}}) outs(%[[NEW]] : tensor<4xf32>)
// CHECK-SAME: phl.device = "npu", returns_status, with_device
// CHECK: materialize_in_destination %[[R]] in restrict writable %[[OUT]]
func.func @main(%x: tensor<4xf32> {phl.name = "image"}, %n: i32) -> (tensor<4xf32> {phl.name = "scores"})
    attributes {phl.target = "llvm"} {
  %0 = call @part(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A value that is reshaped last is written to the result in its shape before.
// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME: %arg1: memref<6xf32> {phl.io = "input"}, %[[A:arg2]]: memref<6xf32> {phl.io = "output"}, %[[B:arg3]]: memref<2x3xf32> {phl.io = "output"})
// CHECK-DAG: memref.expand_shape %[[A]] {{\[\[}}0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32>
// CHECK-DAG: memref.collapse_shape %[[B]] {{\[\[}}0, 1]] : memref<2x3xf32> into memref<6xf32>
// CHECK: bufferization.materialize_in_destination %0 {{.*}} : (tensor<2x3xf32>, memref<2x3xf32>)
// CHECK: bufferization.materialize_in_destination %1 {{.*}} : (tensor<6xf32>, memref<6xf32>)
func.func @reshaped(%x: tensor<2x3xf32>, %y: tensor<6xf32>) -> (tensor<6xf32>, tensor<2x3xf32>) {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %1 = tensor.expand_shape %y [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  return %0, %1 : tensor<6xf32>, tensor<2x3xf32>
}

// However often it is reshaped.
// CHECK-LABEL: func.func @reshaped_twice(
// CHECK-DAG: %[[FLAT:.*]] = memref.collapse_shape %arg1 {{\[\[}}0, 1]] : memref<3x2xf32> into memref<6xf32>
// CHECK-DAG: %[[OUT:.*]] = memref.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32>
// CHECK: bufferization.materialize_in_destination %0 in restrict writable %[[OUT]] : (tensor<2x3xf32>, memref<2x3xf32>)
func.func @reshaped_twice(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}
