// RUN: phaseline-opt %s --graph-tabulate | FileCheck %s
// CHECK-NOT: graph.lookup

// A cheap function stays: a kernel computes it in its registers.
func.func @relu(%x: tensor<4xi8>, %s: tensor<f32>) -> tensor<4xi8> {
  %c = graph.constant dense<0.5> : tensor<f32>
  %d = graph.dequantize_linear %x, %c : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
  %r = graph.relu %d : tensor<4xf32>
  %y = graph.quantize_linear %r, %c to = i8 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// Functions of two tensors, of an unknown scale, of a scale for each channel, of sizes that are not known.
func.func @two(%x: tensor<4xi8>, %z: tensor<4xi8>) -> tensor<4xi8> {
  %c = graph.constant dense<0.5> : tensor<f32>
  %d = graph.dequantize_linear %x, %c : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
  %e = graph.dequantize_linear %z, %c : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
  %r = graph.sigmoid %d : tensor<4xf32>
  %m = graph.mul %r, %e : tensor<4xf32>
  %y = graph.quantize_linear %m, %c to = i8 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}
func.func @unknown_scale(%x: tensor<4xi8>, %s: tensor<f32>) -> tensor<4xi8> {
  %d = graph.dequantize_linear %x, %s : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
  %r = graph.sigmoid %d : tensor<4xf32>
  %y = graph.quantize_linear %r, %s to = i8 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}
func.func @per_channel(%x: tensor<4x2xi8>) -> tensor<4x2xi8> {
  %c = graph.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %d = graph.dequantize_linear %x, %c : (tensor<4x2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
  %r = graph.sigmoid %d : tensor<4x2xf32>
  %y = graph.quantize_linear %r, %c to = i8 : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xi8>
  return %y : tensor<4x2xi8>
}
func.func @dynamic(%x: tensor<?xi8>) -> tensor<?xi8> {
  %c = graph.constant dense<0.5> : tensor<f32>
  %d = graph.dequantize_linear %x, %c : (tensor<?xi8>, tensor<f32>) -> tensor<?xf32>
  %r = graph.sigmoid %d : tensor<?xf32>
  %y = graph.quantize_linear %r, %c to = i8 : (tensor<?xf32>, tensor<f32>) -> tensor<?xi8>
  return %y : tensor<?xi8>
}
