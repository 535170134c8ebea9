// Division: @NAME@: 6 of 8 operations in 1 regions
// An int8 product with a bias and relu.
func.func @main(%image: tensor<6x20xf32>) -> tensor<6x12xf32> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<-3> : tensor<i8>
  %sw = graph.constant dense<0.03125> : tensor<f32>
  %sb = graph.constant dense<0.001953125> : tensor<f32>
  %w = graph.constant dense<[[-7, -62, 61, 114, -95, -122, 112, 4, -9, -30, 112, 115, 75, -51, -10, -51, 71, -121, -96, -47],
    [-107, 26, -113, 9, 114, 70, 90, 74, 99, -60, 59, -79, -110, -59, 125, -17, 4, 95, 26, 87],
    [69, 51, 80, -10, 44, -114, 15, -45, 39, -75, -20, 8, 17, -65, -96, 118, 119, -83, 48, -94],
    [82, -51, -118, 22, 90, 84, -68, -106, -105, 65, 41, 14, -8, -110, 30, -125, -89, -73, -112, -27],
    [80, 21, 6, -49, -107, 45, 32, 56, -58, 65, 64, 107, 69, -76, 10, 92, -7, 26, 95, 4],
    [27, 45, -123, 84, 33, -118, 64, -60, -98, 42, 110, 52, 52, 14, 122, -117, -97, -118, 61, 0],
    [105, 24, 35, -38, 58, -34, 32, 61, 7, 25, 65, -75, -115, -61, 30, -15, 9, -6, 39, -33],
    [94, -79, -76, 36, 42, -14, 96, -42, -88, 44, -17, 102, 10, -13, -67, -111, -31, 33, -35, 14],
    [46, -85, 48, -62, 87, 21, 10, 109, 49, 85, 20, 86, 81, -110, 83, -49, -26, -126, 116, 94],
    [-15, -112, 105, 19, 46, -12, -94, 18, -67, -3, -105, -111, -27, 92, -103, -122, 118, -67, -41, 25],
    [-6, -118, 83, -101, -70, 46, -64, 1, 116, -97, 52, -15, -27, -66, -67, -41, -6, 12, -63, -125],
    [121, 76, -103, 10, -1, 9, 88, -102, 114, 37, -128, -100, -64, -105, -65, -103, -93, 119, -112, -84]]> : tensor<12x20xi8>
  %b = graph.constant dense<[1222, 1113, 1014, -413, -1714, -423, -2413, -123, 160, 2299, 191, 1805]> : tensor<12xi32>
  %q = graph.quantize_linear %image, %s, %z : (tensor<6x20xf32>, tensor<f32>, tensor<i8>) -> tensor<6x20xi8>
  %x = graph.dequantize_linear %q, %s, %z : (tensor<6x20xi8>, tensor<f32>, tensor<i8>) -> tensor<6x20xf32>
  %wf = graph.dequantize_linear %w, %sw : (tensor<12x20xi8>, tensor<f32>) -> tensor<12x20xf32>
  %bf = graph.dequantize_linear %b, %sb : (tensor<12xi32>, tensor<f32>) -> tensor<12xf32>
  %0 = graph.gemm %x, %wf, %bf {trans_b = true} : (tensor<6x20xf32>, tensor<12x20xf32>, tensor<12xf32>) -> tensor<6x12xf32>
  %1 = graph.relu %0 : tensor<6x12xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<6x12xf32>, tensor<f32>, tensor<i8>) -> tensor<6x12xi8>
  %3 = graph.dequantize_linear %2, %s, %z : (tensor<6x12xi8>, tensor<f32>, tensor<i8>) -> tensor<6x12xf32>
  return %3 : tensor<6x12xf32>
}
