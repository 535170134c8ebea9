// The operations that `phaseline targets HOST --kernels` asks the compiler about: name, and the element types that stand
// for ELEM, then a function. Channels and sizes are those of a middle layer.
//
// conv, 1 dimension | f32 f64 f16 bf16
func.func @main(%x: tensor<1x16x64xELEM>) -> tensor<1x32x62xELEM> {
  %w = graph.constant dense<0.5> : tensor<32x16x3xELEM>
  %y = graph.conv %x, %w : (tensor<1x16x64xELEM>, tensor<32x16x3xELEM>) -> tensor<1x32x62xELEM>
  return %y : tensor<1x32x62xELEM>
}
// conv, 2 dimensions | f32 f64 f16 bf16
func.func @main(%x: tensor<1x16x18x18xELEM>) -> tensor<1x32x16x16xELEM> {
  %w = graph.constant dense<0.5> : tensor<32x16x3x3xELEM>
  %y = graph.conv %x, %w : (tensor<1x16x18x18xELEM>, tensor<32x16x3x3xELEM>) -> tensor<1x32x16x16xELEM>
  return %y : tensor<1x32x16x16xELEM>
}
// conv, 3 dimensions | f32 f64 f16 bf16
func.func @main(%x: tensor<1x8x10x10x10xELEM>) -> tensor<1x16x8x8x8xELEM> {
  %w = graph.constant dense<0.5> : tensor<16x8x3x3x3xELEM>
  %y = graph.conv %x, %w : (tensor<1x8x10x10x10xELEM>, tensor<16x8x3x3x3xELEM>) -> tensor<1x16x8x8x8xELEM>
  return %y : tensor<1x16x8x8x8xELEM>
}
// conv, groups | f32 f64 f16 bf16
func.func @main(%x: tensor<1x16x18x18xELEM>) -> tensor<1x32x16x16xELEM> {
  %w = graph.constant dense<0.5> : tensor<32x4x3x3xELEM>
  %y = graph.conv %x, %w group = 4 : (tensor<1x16x18x18xELEM>, tensor<32x4x3x3xELEM>) -> tensor<1x32x16x16xELEM>
  return %y : tensor<1x32x16x16xELEM>
}
// conv, depthwise | f32 f64 f16 bf16
func.func @main(%x: tensor<1x32x18x18xELEM>) -> tensor<1x32x16x16xELEM> {
  %w = graph.constant dense<0.5> : tensor<32x1x3x3xELEM>
  %y = graph.conv %x, %w group = 32 : (tensor<1x32x18x18xELEM>, tensor<32x1x3x3xELEM>) -> tensor<1x32x16x16xELEM>
  return %y : tensor<1x32x16x16xELEM>
}
// conv, weights computed | f32 f64 f16 bf16
func.func @main(%x: tensor<1x16x18x18xELEM>, %w: tensor<32x16x3x3xELEM>) -> tensor<1x32x16x16xELEM> {
  %y = graph.conv %x, %w : (tensor<1x16x18x18xELEM>, tensor<32x16x3x3xELEM>) -> tensor<1x32x16x16xELEM>
  return %y : tensor<1x32x16x16xELEM>
}
// conv_transpose, 1 dimension | f32 f64 f16 bf16
func.func @main(%x: tensor<1x16x32xELEM>) -> tensor<1x8x64xELEM> {
  %w = graph.constant dense<0.5> : tensor<16x8x2xELEM>
  %y = graph.conv_transpose %x, %w strides = [2] : (tensor<1x16x32xELEM>, tensor<16x8x2xELEM>) -> tensor<1x8x64xELEM>
  return %y : tensor<1x8x64xELEM>
}
// conv_transpose, 2 dimensions | f32 f64 f16 bf16
func.func @main(%x: tensor<1x16x16x16xELEM>) -> tensor<1x8x32x32xELEM> {
  %w = graph.constant dense<0.5> : tensor<16x8x2x2xELEM>
  %y = graph.conv_transpose %x, %w strides = [2, 2] : (tensor<1x16x16x16xELEM>, tensor<16x8x2x2xELEM>) -> tensor<1x8x32x32xELEM>
  return %y : tensor<1x8x32x32xELEM>
}
// conv_integer | u8 i8
func.func @main(%x: tensor<1x16x18x18xELEM>) -> tensor<1x32x16x16xi32> {
  %w = graph.constant dense<5> : tensor<32x16x3x3xi8>
  %y = graph.conv_integer %x, %w : (tensor<1x16x18x18xELEM>, tensor<32x16x3x3xi8>) -> tensor<1x32x16x16xi32>
  return %y : tensor<1x32x16x16xi32>
}
// conv between quantizations | u8 i8
func.func @main(%x: tensor<1x16x18x18xELEM>) -> tensor<1x32x16x16xELEM> {
  %w = graph.constant dense<0.5> : tensor<32x16x3x3xf32>
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ELEM>
  %v = graph.constant dense<0> : tensor<i8>
  %q = graph.quantize_linear %w, %s, %v : (tensor<32x16x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<32x16x3x3xi8>
  %d = graph.dequantize_linear %q, %s, %v : (tensor<32x16x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<32x16x3x3xf32>
  %f = graph.dequantize_linear %x, %s, %z : (tensor<1x16x18x18xELEM>, tensor<f32>, tensor<ELEM>) -> tensor<1x16x18x18xf32>
  %c = graph.conv %f, %d : (tensor<1x16x18x18xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x16x16xf32>
  %y = graph.quantize_linear %c, %s, %z : (tensor<1x32x16x16xf32>, tensor<f32>, tensor<ELEM>) -> tensor<1x32x16x16xELEM>
  return %y : tensor<1x32x16x16xELEM>
}
// matmul, constant weights | f32 f64 f16 bf16
func.func @main(%x: tensor<32x64xELEM>) -> tensor<32x96xELEM> {
  %w = graph.constant dense<0.5> : tensor<64x96xELEM>
  %y = graph.matmul %x, %w : (tensor<32x64xELEM>, tensor<64x96xELEM>) -> tensor<32x96xELEM>
  return %y : tensor<32x96xELEM>
}
// matmul of one row | f32 f64 f16 bf16
func.func @main(%x: tensor<1x256xELEM>) -> tensor<1x256xELEM> {
  %w = graph.constant dense<0.5> : tensor<256x256xELEM>
  %y = graph.matmul %x, %w : (tensor<1x256xELEM>, tensor<256x256xELEM>) -> tensor<1x256xELEM>
  return %y : tensor<1x256xELEM>
}
// matmul, both computed | f32 f64 f16 bf16
func.func @main(%x: tensor<4x32x64xELEM>, %w: tensor<4x64x96xELEM>) -> tensor<4x32x96xELEM> {
  %y = graph.matmul %x, %w : (tensor<4x32x64xELEM>, tensor<4x64x96xELEM>) -> tensor<4x32x96xELEM>
  return %y : tensor<4x32x96xELEM>
}
// matmul_integer | u8 i8
func.func @main(%x: tensor<32x64xELEM>) -> tensor<32x96xi32> {
  %w = graph.constant dense<5> : tensor<64x96xi8>
  %y = graph.matmul_integer %x, %w : (tensor<32x64xELEM>, tensor<64x96xi8>) -> tensor<32x96xi32>
  return %y : tensor<32x96xi32>
}
// matmul of stored integers | f32
func.func @main(%x: tensor<1x256xELEM>, %q: tensor<256x256xi8>) -> tensor<1x256xELEM> {
  %w = graph.constant dense<7> : tensor<256x256xi8>
  %s = graph.constant dense<0.25> : tensor<ELEM>
  %d = graph.dequantize_linear %w, %s : (tensor<256x256xi8>, tensor<ELEM>) -> tensor<256x256xELEM>
  %y = graph.matmul %x, %d : (tensor<1x256xELEM>, tensor<256x256xELEM>) -> tensor<1x256xELEM>
  return %y : tensor<1x256xELEM>
}
// attention | f32 f64 f16 bf16
func.func @main(%q: tensor<4x64x32xELEM>, %k: tensor<4x32x64xELEM>, %v: tensor<4x64x32xELEM>) -> tensor<4x64x32xELEM> {
  %s = graph.matmul %q, %k : (tensor<4x64x32xELEM>, tensor<4x32x64xELEM>) -> tensor<4x64x64xELEM>
  %p = graph.softmax %s : tensor<4x64x64xELEM>
  %y = graph.matmul %p, %v : (tensor<4x64x64xELEM>, tensor<4x64x32xELEM>) -> tensor<4x64x32xELEM>
  return %y : tensor<4x64x32xELEM>
}
// max_pool | f32 f64 f16 bf16 u8 i8
func.func @main(%x: tensor<1x32x16x16xELEM>) -> tensor<1x32x8x8xELEM> {
  %y = graph.max_pool %x kernel_shape = [2, 2] strides = [2, 2] : tensor<1x32x16x16xELEM> -> tensor<1x32x8x8xELEM>
  return %y : tensor<1x32x8x8xELEM>
}
// average_pool | f32 f64 f16 bf16
func.func @main(%x: tensor<1x32x16x16xELEM>) -> tensor<1x32x8x8xELEM> {
  %y = graph.average_pool %x kernel_shape = [2, 2] strides = [2, 2] : tensor<1x32x16x16xELEM> -> tensor<1x32x8x8xELEM>
  return %y : tensor<1x32x8x8xELEM>
}
