// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null

// Convolution, pooling, normalization, products.

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x8x10x12xf32>, %w: tensor<4x2x3x3xf32>, %b: tensor<4xf32>, %x1: tensor<1x2x9xf32>, %w1: tensor<4x2x3xf32>, %x3: tensor<1x2x5x5x5xf32>, %w3: tensor<4x2x3x3x3xf32>) {
  // CHECK: graph.conv %{{.*}}, %{{.*}} group = 4 : (tensor<1x8x10x12xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x8x10xf32>
  %0 = graph.conv %x, %w group = 4 : (tensor<1x8x10x12xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x8x10xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}}, %{{.*}} strides = [2, 3] pads = [1, 0, 1, 2] dilations = [2, 1] group = 4 : (tensor<1x8x10x12xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.conv %x, %w, %b strides = [2, 3] pads = [1, 0, 1, 2] dilations = [2, 1] group = 4 : (tensor<1x8x10x12xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}} : (tensor<1x2x9xf32>, tensor<4x2x3xf32>) -> tensor<1x4x7xf32>
  %2 = graph.conv %x1, %w1 : (tensor<1x2x9xf32>, tensor<4x2x3xf32>) -> tensor<1x4x7xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}} : (tensor<1x2x5x5x5xf32>, tensor<4x2x3x3x3xf32>) -> tensor<1x4x3x3x3xf32>
  %3 = graph.conv %x3, %w3 : (tensor<1x2x5x5x5xf32>, tensor<4x2x3x3x3xf32>) -> tensor<1x4x3x3x3xf32>
  return
}

// CHECK-LABEL: func.func @conv_transpose
func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<6xf32>) {
  // CHECK: graph.conv_transpose %{{.*}}, %{{.*}} : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x3x7x7xf32>
  %0 = graph.conv_transpose %x, %w : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x3x7x7xf32>
  // CHECK: graph.conv_transpose %{{.*}}, %{{.*}}, %{{.*}} strides = [2, 2] pads = [1, 1, 1, 1] dilations = [2, 2] group = 2 output_padding = [1, 0] : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>, tensor<6xf32>) -> tensor<1x6x12x11xf32>
  %1 = graph.conv_transpose %x, %w, %b strides = [2, 2] pads = [1, 1, 1, 1] dilations = [2, 2] group = 2 output_padding = [1, 0] : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>, tensor<6xf32>) -> tensor<1x6x12x11xf32>
  return
}

// CHECK-LABEL: func.func @col2im
func.func @col2im(%x: tensor<1x12x16xf32>, %p: tensor<2x?x20xi32>) {
  // CHECK: graph.col2im %{{.*}} image_shape = [5, 6] kernel_shape = [2, 3] : (tensor<1x12x16xf32>) -> tensor<1x2x5x6xf32>
  %0 = graph.col2im %x image_shape = [5, 6] kernel_shape = [2, 3] : (tensor<1x12x16xf32>) -> tensor<1x2x5x6xf32>
  // CHECK: graph.col2im %{{.*}} image_shape = [7, 9] kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1] : (tensor<2x?x20xi32>) -> tensor<2x?x7x9xi32>
  %1 = graph.col2im %p image_shape = [7, 9] kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1] : (tensor<2x?x20xi32>) -> tensor<2x?x7x9xi32>
  return
}

// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<1x8x10x12xf32>) {
  // CHECK: graph.max_pool %{{.*}} kernel_shape = [2, 2] : (tensor<1x8x10x12xf32>) -> tensor<1x8x9x11xf32>
  %0 = graph.max_pool %x kernel_shape = [2, 2] : (tensor<1x8x10x12xf32>) -> tensor<1x8x9x11xf32>
  // CHECK: graph.max_pool %{{.*}} kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1] ceil_mode = true : (tensor<1x8x10x12xf32>) -> tensor<1x8x6x7xf32>
  %1 = graph.max_pool %x kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1] ceil_mode = true : (tensor<1x8x10x12xf32>) -> tensor<1x8x6x7xf32>
  // CHECK: graph.max_pool_with_indices %{{.*}} kernel_shape = [2, 2] strides = [2, 2] storage_order = 1 : (tensor<1x8x10x12xf32>) -> (tensor<1x8x5x6xf32>, tensor<1x8x5x6xi64>)
  %2:2 = graph.max_pool_with_indices %x kernel_shape = [2, 2] strides = [2, 2] storage_order = 1 : (tensor<1x8x10x12xf32>) -> (tensor<1x8x5x6xf32>, tensor<1x8x5x6xi64>)
  // CHECK: graph.average_pool %{{.*}} kernel_shape = [3, 3] pads = [1, 1, 1, 1] count_include_pad = true : (tensor<1x8x10x12xf32>) -> tensor<1x8x10x12xf32>
  %3 = graph.average_pool %x kernel_shape = [3, 3] pads = [1, 1, 1, 1] count_include_pad = true : (tensor<1x8x10x12xf32>) -> tensor<1x8x10x12xf32>
  // CHECK: graph.lp_pool %{{.*}} kernel_shape = [2, 2] dilations = [2, 2] p = 1 : (tensor<1x8x10x12xf32>) -> tensor<1x8x8x10xf32>
  %4 = graph.lp_pool %x kernel_shape = [2, 2] dilations = [2, 2] p = 1 : (tensor<1x8x10x12xf32>) -> tensor<1x8x8x10xf32>
  // CHECK: graph.global_average_pool %{{.*}} : (tensor<1x8x10x12xf32>) -> tensor<1x8x1x1xf32>
  %5 = graph.global_average_pool %x : (tensor<1x8x10x12xf32>) -> tensor<1x8x1x1xf32>
  // CHECK: graph.global_max_pool %{{.*}} : (tensor<1x8x10x12xf32>) -> tensor<1x8x1x1xf32>
  %6 = graph.global_max_pool %x : (tensor<1x8x10x12xf32>) -> tensor<1x8x1x1xf32>
  // CHECK: graph.global_lp_pool %{{.*}} p = 1 : (tensor<1x8x10x12xf32>) -> tensor<1x8x1x1xf32>
  %7 = graph.global_lp_pool %x p = 1 : (tensor<1x8x10x12xf32>) -> tensor<1x8x1x1xf32>
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<1x8x10x12xf32>, %c: tensor<8xf32>, %r: tensor<12xf32>) {
  // CHECK: graph.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} epsilon = 1.000000e-03 : (tensor<1x8x10x12xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x10x12xf32>
  %0 = graph.batch_norm %x, %c, %c, %c, %c epsilon = 1.000000e-03 : (tensor<1x8x10x12xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x10x12xf32>
  // CHECK: graph.instance_norm %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x8x10x12xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x10x12xf32>
  %1 = graph.instance_norm %x, %c, %c : (tensor<1x8x10x12xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x10x12xf32>
  // CHECK: graph.group_norm %{{.*}}, %{{.*}}, %{{.*}} num_groups = 2 : (tensor<1x8x10x12xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x10x12xf32>
  %2 = graph.group_norm %x, %c, %c num_groups = 2 : (tensor<1x8x10x12xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x10x12xf32>
  // CHECK: graph.layer_norm %{{.*}}, %{{.*}} : (tensor<1x8x10x12xf32>, tensor<12xf32>) -> tensor<1x8x10x12xf32>
  %3 = graph.layer_norm %x, %r : (tensor<1x8x10x12xf32>, tensor<12xf32>) -> tensor<1x8x10x12xf32>
  // CHECK: graph.layer_norm %{{.*}}, %{{.*}}, %{{.*}} axis = 2 epsilon = 1.000000e-03 : (tensor<1x8x10x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<1x8x10x12xf32>
  %4 = graph.layer_norm %x, %r, %r axis = 2 epsilon = 1.000000e-03 : (tensor<1x8x10x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<1x8x10x12xf32>
  // CHECK: graph.layer_norm_with_stats %{{.*}}, %{{.*}} : (tensor<1x8x10x12xf32>, tensor<12xf32>) -> (tensor<1x8x10x12xf32>, tensor<1x8x10x1xf32>, tensor<1x8x10x1xf32>)
  %5:3 = graph.layer_norm_with_stats %x, %r : (tensor<1x8x10x12xf32>, tensor<12xf32>) -> (tensor<1x8x10x12xf32>, tensor<1x8x10x1xf32>, tensor<1x8x10x1xf32>)
  // CHECK: graph.rms_norm %{{.*}}, %{{.*}} axis = 3 : (tensor<1x8x10x12xf32>, tensor<12xf32>) -> tensor<1x8x10x12xf32>
  %6 = graph.rms_norm %x, %r axis = 3 : (tensor<1x8x10x12xf32>, tensor<12xf32>) -> tensor<1x8x10x12xf32>
  // CHECK: graph.lrn %{{.*}} size = 5 alpha = 1.000000e-03 beta = 5.000000e-01 bias = 2.000000e+00 : (tensor<1x8x10x12xf32>) -> tensor<1x8x10x12xf32>
  %7 = graph.lrn %x size = 5 alpha = 1.000000e-03 beta = 5.000000e-01 bias = 2.000000e+00 : (tensor<1x8x10x12xf32>) -> tensor<1x8x10x12xf32>
  // CHECK: graph.mean_variance_norm %{{.*}} axes = [0, 2, 3] : tensor<1x8x10x12xf32>
  %8 = graph.mean_variance_norm %x axes = [0, 2, 3] : tensor<1x8x10x12xf32>
  // CHECK: graph.lp_norm %{{.*}} axis = 1 p = 1 : tensor<1x8x10x12xf32>
  %9 = graph.lp_norm %x axis = 1 p = 1 : tensor<1x8x10x12xf32>
  // CHECK: graph.softmax %{{.*}} : tensor<1x8x10x12xf32>
  %10 = graph.softmax %x : tensor<1x8x10x12xf32>
  // CHECK: graph.softmax %{{.*}} axis = 1 : tensor<1x8x10x12xf32>
  %11 = graph.softmax %x axis = 1 : tensor<1x8x10x12xf32>
  // CHECK: graph.log_softmax %{{.*}} axis = 0 : tensor<1x8x10x12xf32>
  %12 = graph.log_softmax %x axis = 0 : tensor<1x8x10x12xf32>
  // CHECK: graph.hardmax %{{.*}} : tensor<1x8x10x12xf32>
  %13 = graph.hardmax %x : tensor<1x8x10x12xf32>
  return
}

// CHECK-LABEL: func.func @gemm
func.func @gemm(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>, %t: tensor<4x3xf32>) {
  // CHECK: graph.gemm %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %0 = graph.gemm %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: graph.gemm %{{.*}}, %{{.*}}, %{{.*}} alpha = 5.000000e-01 beta = 2.000000e+00 trans_b = true : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = graph.gemm %a, %t, %c alpha = 5.000000e-01 beta = 2.000000e+00 trans_b = true : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: graph.gemm %{{.*}}, %{{.*}} trans_a = true trans_b = true : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  %2 = graph.gemm %b, %t trans_a = true trans_b = true : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  return
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<5x1x2x3xf32>, %b: tensor<6x3x4xf32>, %v: tensor<3xf32>) {
  // CHECK: graph.matmul %{{.*}}, %{{.*}} : (tensor<5x1x2x3xf32>, tensor<6x3x4xf32>) -> tensor<5x6x2x4xf32>
  %0 = graph.matmul %a, %b : (tensor<5x1x2x3xf32>, tensor<6x3x4xf32>) -> tensor<5x6x2x4xf32>
  // CHECK: graph.matmul %{{.*}}, %{{.*}} : (tensor<5x1x2x3xf32>, tensor<3xf32>) -> tensor<5x1x2xf32>
  %1 = graph.matmul %a, %v : (tensor<5x1x2x3xf32>, tensor<3xf32>) -> tensor<5x1x2xf32>
  // CHECK: graph.matmul %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<6x3x4xf32>) -> tensor<6x4xf32>
  %2 = graph.matmul %v, %b : (tensor<3xf32>, tensor<6x3x4xf32>) -> tensor<6x4xf32>
  // CHECK: graph.matmul %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %3 = graph.matmul %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @einsum
func.func @einsum(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>) {
  // CHECK: graph.einsum "bij,bjk->bik", %{{.*}}, %{{.*}} : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  %0 = graph.einsum "bij,bjk->bik", %a, %b : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  // CHECK: graph.einsum "...ij,...jk", %{{.*}}, %{{.*}} : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  %1 = graph.einsum "...ij,...jk", %a, %b : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  // CHECK: graph.einsum "bij->", %{{.*}} : (tensor<5x2x3xf32>) -> tensor<f32>
  %2 = graph.einsum "bij->", %a : (tensor<5x2x3xf32>) -> tensor<f32>
  return
}
