func.func @main(%x: tensor<16x64xf32>) -> tensor<16x10xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %n0 = graph.constant dense<3072.0> : tensor<f32>
  %n1 = graph.constant dense<480.0> : tensor<f32>
  %s0 = graph.constant dense<[64, 48]> : tensor<2xi64>
  %s1 = graph.constant dense<[48, 10]> : tensor<2xi64>
  %r0 = graph.range %zero, %n0, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3072xf32>
  %r1 = graph.range %zero, %n1, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<480xf32>
  %f0 = graph.sin %r0 : tensor<3072xf32>
  %f1 = graph.cos %r1 : tensor<480xf32>
  %w0 = graph.reshape %f0, %s0 : (tensor<3072xf32>, tensor<2xi64>) -> tensor<64x48xf32>
  %w1 = graph.reshape %f1, %s1 : (tensor<480xf32>, tensor<2xi64>) -> tensor<48x10xf32>
  %b0 = graph.constant dense<0.5> : tensor<48xf32>
  %b1 = graph.constant dense<-0.25> : tensor<10xf32>

  %0 = graph.gemm %x, %w0, %b0 : (tensor<16x64xf32>, tensor<64x48xf32>, tensor<48xf32>) -> tensor<16x48xf32>
  %1 = graph.relu %0 : tensor<16x48xf32>
  %2 = graph.gemm %1, %w1, %b1 : (tensor<16x48xf32>, tensor<48x10xf32>, tensor<10xf32>) -> tensor<16x10xf32>
  %3 = graph.softmax %2 : tensor<16x10xf32>
  return %3 : tensor<16x10xf32>
}
