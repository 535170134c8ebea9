// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

// Convolution, pooling, norms, products.

func.func @channels(%x: tensor<1x8x10x12xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op 'x' has 8 channels, but 'w' expects 3: 3 for each of 1 groups}}
  %0 = graph.conv %x, %w : (tensor<1x8x10x12xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @group(%x: tensor<1x8x10x12xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error @+1 {{'w' has 3 filters, which is no multiple of 'group' = 2}}
  %0 = graph.conv %x, %w group = 2 : (tensor<1x8x10x12xf32>, tensor<3x4x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @group_zero(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{'group' must be positive, but is 0}}
  %0 = graph.conv %x, %w group = 0 : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @filter_rank(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @+1 {{'w' must have rank 4, but is 'tensor<4x8x3xf32>'}}
  %0 = graph.conv %x, %w : (tensor<1x8x10x12xf32>, tensor<4x8x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x8xf32>) {
  // expected-error @+1 {{'x' must have rank 3 or more, but is 'tensor<1x8xf32>'}}
  %0 = graph.conv %x, %x : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @strides(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{'strides' must have 2 elements, but has 1}}
  %0 = graph.conv %x, %w strides = [1] : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @stride_zero(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{'strides' must not be less than 1, but holds 0}}
  %0 = graph.conv %x, %w strides = [1, 0] : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @pads(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{'pads' must have 4 elements, but has 2}}
  %0 = graph.conv %x, %w pads = [1, 1] : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @pads_negative(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{'pads' must not be less than 0, but holds -1}}
  %0 = graph.conv %x, %w pads = [1, 1, -1, 0] : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @dilations(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{'dilations' must not be less than 1, but holds 0}}
  %0 = graph.conv %x, %w dilations = [0, 1] : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @window(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{the window covers 11 elements of spatial dimension 0, which has only 10 with its padding}}
  %0 = graph.conv %x, %w dilations = [5, 1] : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @bias(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{'b' must have 4 elements, one per filter, but is 'tensor<8xf32>'}}
  %0 = graph.conv %x, %w, %b : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>, tensor<8xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @filter_type(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf16>) {
  // expected-error @+1 {{'x' and 'w' must have the same element type}}
  %0 = graph.conv %x, %w : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf16>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @conv_result(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{result #0 has type 'tensor<1x4x10x12xf32>', which does not fit the inferred type 'tensor<1x4x8x10xf32>'}}
  %0 = graph.conv %x, %w : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x10x12xf32>
  return
}

// -----

func.func @transpose_channels(%x: tensor<1x8x10x12xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error @+1 {{'x' has 8 channels, but 'w' expects 4}}
  %0 = graph.conv_transpose %x, %w : (tensor<1x8x10x12xf32>, tensor<4x8x3x3xf32>) -> tensor<1x8x12x14xf32>
  return
}

// -----

func.func @transpose_group(%x: tensor<1x3x4x4xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error @+1 {{'x' has 3 channels, which is no multiple of 'group' = 2}}
  %0 = graph.conv_transpose %x, %w group = 2 : (tensor<1x3x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @transpose_padding(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x3x3xf32>) {
  // expected-error @+1 {{'output_padding' must have 2 elements, but has 1}}
  %0 = graph.conv_transpose %x, %w output_padding = [1] : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x6x6xf32>
  return
}

// -----

func.func @transpose_pads(%x: tensor<1x2x1x1xf32>, %w: tensor<2x2x3x3xf32>) {
  // expected-error @+1 {{'pads' cut more off spatial dimension 0 than the 3 elements there are}}
  %0 = graph.conv_transpose %x, %w pads = [2, 2, 2, 2] : (tensor<1x2x1x1xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x0x0xf32>
  return
}

// -----

func.func @kernel_shape(%x: tensor<1x8x10x12xf32>) {
  // expected-error @+1 {{'kernel_shape' must have 2 elements, one per spatial dimension, but has 1}}
  %0 = graph.max_pool %x kernel_shape = [2] : (tensor<1x8x10x12xf32>) -> tensor<1x8x10x12xf32>
  return
}

// -----

func.func @kernel_zero(%x: tensor<1x8x10x12xf32>) {
  // expected-error @+1 {{the kernel must not be empty, but has size 0}}
  %0 = graph.average_pool %x kernel_shape = [2, 0] : (tensor<1x8x10x12xf32>) -> tensor<1x8x10x12xf32>
  return
}

// -----

func.func @kernel_missing(%x: tensor<1x8x10x12xf32>) {
  // expected-error @+1 {{requires attribute 'kernel_shape'}}
  %0 = "graph.max_pool"(%x) : (tensor<1x8x10x12xf32>) -> tensor<1x8x10x12xf32>
  return
}

// -----

func.func @storage_order(%x: tensor<1x8x10x12xf32>) {
  // expected-error @+1 {{'storage_order' must be 0 or 1, but is 2}}
  %0:2 = graph.max_pool_with_indices %x kernel_shape = [2, 2] storage_order = 2 : (tensor<1x8x10x12xf32>) -> (tensor<1x8x9x11xf32>, tensor<1x8x9x11xi64>)
  return
}

// -----

func.func @norm_p(%x: tensor<1x8x10x12xf32>) {
  // expected-error @+1 {{'p' must be positive, but is 0}}
  %0 = graph.global_lp_pool %x p = 0 : (tensor<1x8x10x12xf32>) -> tensor<1x8x1x1xf32>
  return
}

// -----

func.func @batch_norm(%x: tensor<1x8x10x12xf32>, %c: tensor<10xf32>) {
  // expected-error @+1 {{'scale' must have 8 elements, one per channel of 'x', but is 'tensor<10xf32>'}}
  %0 = graph.batch_norm %x, %c, %c, %c, %c : (tensor<1x8x10x12xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) -> tensor<1x8x10x12xf32>
  return
}

// -----

func.func @num_groups(%x: tensor<1x8x10x12xf32>, %c: tensor<8xf32>) {
  // expected-error @+1 {{'num_groups' is 3, which does not divide the 8 channels of 'x'}}
  %0 = graph.group_norm %x, %c, %c num_groups = 3 : (tensor<1x8x10x12xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x10x12xf32>
  return
}

// -----

func.func @layer_norm_scale(%x: tensor<1x8x10x12xf32>, %c: tensor<8xf32>) {
  // expected-error @+1 {{'scale' of shape [8] does not broadcast to [1, 8, 10, 12]}}
  %0 = graph.layer_norm %x, %c : (tensor<1x8x10x12xf32>, tensor<8xf32>) -> tensor<1x8x10x12xf32>
  return
}

// -----

func.func @layer_norm_axis(%x: tensor<1x8x10x12xf32>, %c: tensor<12xf32>) {
  // expected-error @+1 {{'axis' is 4, but a tensor of rank 4 has the axes -4 to 3}}
  %0 = graph.layer_norm %x, %c axis = 4 : (tensor<1x8x10x12xf32>, tensor<12xf32>) -> tensor<1x8x10x12xf32>
  return
}

// -----

func.func @lrn(%x: tensor<1x8x10x12xf32>) {
  // expected-error @+1 {{'size' must be positive, but is 0}}
  %0 = graph.lrn %x size = 0 : (tensor<1x8x10x12xf32>) -> tensor<1x8x10x12xf32>
  return
}

// -----

func.func @norm_axes(%x: tensor<1x8x10x12xf32>) {
  // expected-error @+1 {{'axes' names axis 1 twice}}
  %0 = graph.mean_variance_norm %x axes = [1, -3] : tensor<1x8x10x12xf32>
  return
}

// -----

func.func @softmax(%x: tensor<1x8x10x12xf32>) {
  // expected-error @+1 {{'axis' is -5, but a tensor of rank 4 has the axes -4 to 3}}
  %0 = graph.softmax %x axis = -5 : tensor<1x8x10x12xf32>
  return
}

// -----

func.func @gemm_depth(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{A has 3 columns, but B has 4 rows}}
  %0 = graph.gemm %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @gemm_rank(%a: tensor<2x3x1xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{'a' must have rank 2}}
  %0 = graph.gemm %a, %b : (tensor<2x3x1xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @gemm_c(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2xf32>) {
  // expected-error @+1 {{'c' of shape [2] does not broadcast to [2, 5]}}
  %0 = graph.gemm %a, %b, %c : (tensor<2x3xf32>, tensor<3x5xf32>, tensor<2xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @matmul_depth(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{'a' has 3 columns, but 'b' has 4 rows}}
  %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @matmul_batch(%a: tensor<2x1x3xf32>, %b: tensor<4x3x1xf32>) {
  // expected-error @+1 {{shapes [2] and [4] do not broadcast}}
  %0 = graph.matmul %a, %b : (tensor<2x1x3xf32>, tensor<4x3x1xf32>) -> tensor<2x1x1xf32>
  return
}

// -----

func.func @matmul_scalar(%a: tensor<f32>) {
  // expected-error @+1 {{'a' must have rank 1 or more}}
  %0 = graph.matmul %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @einsum_terms(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'equation' has 2 terms for operands, but there are 1}}
  %0 = graph.einsum "ij,jk->ik", %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @einsum_rank(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'equation' gives 'ijk' to operand #0, which has rank 2}}
  %0 = graph.einsum "ijk->ij", %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @einsum_size(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'equation' uses 'i' for dimensions of size 2 and 3}}
  %0 = graph.einsum "ii->i", %a : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @einsum_result(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'equation' uses 'k' in the result, but in no operand}}
  %0 = graph.einsum "ij->ik", %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @einsum_letter(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'equation' has '1' where a letter must be}}
  %0 = graph.einsum "i1->i", %a : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @col2im_rank(%x: tensor<12x16xf32>) {
  // expected-error @+1 {{rank 3}}
  %0 = graph.col2im %x image_shape = [5, 6] kernel_shape = [2, 3] : (tensor<12x16xf32>) -> tensor<1x2x5x6xf32>
  return
}

// -----

func.func @col2im_patches(%x: tensor<1x12x15xf32>) {
  // expected-error @+1 {{'x' has 15 patches, but 16 windows fit into the image}}
  %0 = graph.col2im %x image_shape = [5, 6] kernel_shape = [2, 3] : (tensor<1x12x15xf32>) -> tensor<1x2x5x6xf32>
  return
}

// -----

func.func @col2im_area(%x: tensor<1x13x16xf32>) {
  // expected-error @+1 {{'x' has 13 rows, which is no multiple of the 6 elements of a window}}
  %0 = graph.col2im %x image_shape = [5, 6] kernel_shape = [2, 3] : (tensor<1x13x16xf32>) -> tensor<1x2x5x6xf32>
  return
}

// -----

func.func @col2im_image(%x: tensor<1x12x16xf32>) {
  // expected-error @+1 {{'image_shape' must be positive, but holds 0}}
  %0 = graph.col2im %x image_shape = [0, 6] kernel_shape = [2, 3] : (tensor<1x12x16xf32>) -> tensor<1x2x0x6xf32>
  return
}
