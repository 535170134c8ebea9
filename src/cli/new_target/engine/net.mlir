// Division: @NAME@: 9 of 11 operations in 1 regions
// Two int8 convolutions, the first with relu: one batch of two commands.
func.func @main(%image: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<-3> : tensor<i8>
  %sw = graph.constant dense<[0.03125, 0.0625, 0.015625, 0.0625]> : tensor<4xf32>
  %w = graph.constant dense<[[[[5]], [[-60]]], [[[33]], [[127]]], [[[-128]], [[1]]], [[[90]], [[17]]]]> : tensor<4x2x1x1xi8>
  %q = graph.quantize_linear %image, %s, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  %x = graph.dequantize_linear %q, %s, %z : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %wf = graph.dequantize_linear %w, %sw axis = 0 : (tensor<4x2x1x1xi8>, tensor<4xf32>) -> tensor<4x2x1x1xf32>
  %0 = graph.conv %x, %wf {strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x2x2xf32>
  %1 = graph.relu %0 : tensor<1x4x2x2xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xi8>
  %3 = graph.dequantize_linear %2, %s, %z : (tensor<1x4x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xf32>
  %v = graph.constant dense<[[[[40]], [[-7]], [[3]], [[99]]], [[[-50]], [[64]], [[1]], [[0]]]]> : tensor<2x4x1x1xi8>
  %vf = graph.dequantize_linear %v, %s : (tensor<2x4x1x1xi8>, tensor<f32>) -> tensor<2x4x1x1xf32>
  %4 = graph.conv %3, %vf : (tensor<1x4x2x2xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x2x2xf32>
  %5 = graph.quantize_linear %4, %s, %z : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x2xi8>
  %6 = graph.dequantize_linear %5, %s, %z : (tensor<1x2x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x2xf32>
  return %6 : tensor<1x2x2x2xf32>
}
