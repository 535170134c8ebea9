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
