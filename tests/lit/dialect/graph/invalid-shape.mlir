// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

// Constants and ops on shapes.

func.func @constant_type() {
  // expected-error @+1 {{does not fit the inferred type 'tensor<4xf32>'}}
  %0 = graph.constant dense<1.0> : tensor<4xf32> as tensor<5xf32>
  return
}

// -----

func.func @constant_vector() {
  // expected-error @+1 {{'value' must be a ranked tensor of static shape, but is 'vector<4xf32>'}}
  %0 = graph.constant dense<1.0> : vector<4xf32> as tensor<4xf32>
  return
}

// -----

func.func @constant_sparse() {
  // expected-error @+1 {{'value' must be dense or dense_resource}}
  %0 = graph.constant sparse<0, 1.0> : tensor<4xf32>
  return
}

// -----

func.func @sizes_unknown(%x: tensor<2x3x4xf32>, %s: tensor<?xi64>) {
  // expected-error @+1 {{'shape' is 'tensor<?xi64>', so that the rank of the result is unknown; it must have a static number of elements}}
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<?xi64>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @sizes_count(%x: tensor<2x3x4xf32>) {
  %s = graph.constant dense<[5, 5]> : tensor<2xi64>
  // expected-error @+1 {{cannot reshape the 24 elements of 'tensor<2x3x4xf32>' to 'tensor<5x5xf32>'}}
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<5x5xf32>
  return
}

// -----

func.func @sizes_divide(%x: tensor<2x3x4xf32>) {
  %s = graph.constant dense<[5, -1]> : tensor<2xi64>
  // expected-error @+1 {{the 24 elements of 'tensor<2x3x4xf32>' do not divide evenly among the sizes in 'shape'}}
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<5x?xf32>
  return
}

// -----

func.func @sizes_open(%x: tensor<2x3x4xf32>) {
  %s = graph.constant dense<[-1, -1]> : tensor<2xi64>
  // expected-error @+1 {{'shape' holds -1 more than once}}
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @sizes_negative(%x: tensor<2x3x4xf32>) {
  %s = graph.constant dense<[-2, 3]> : tensor<2xi64>
  // expected-error @+1 {{'shape' must not hold sizes less than -1, but holds -2}}
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @sizes_zero(%x: tensor<2x3x4xf32>) {
  %s = graph.constant dense<[1, 1, 1, 0]> : tensor<4xi64>
  // expected-error @+1 {{'shape' holds 0 at position 3, but 'x' has rank 3}}
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<4xi64>) -> tensor<1x1x1x?xf32>
  return
}

// -----

func.func @flatten(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'axis' is 4, but must be from -3 to 3}}
  %0 = graph.flatten %x axis = 4 : (tensor<2x3x4xf32>) -> tensor<24x1xf32>
  return
}

// -----

func.func @squeeze(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{cannot squeeze axis 1 of 'tensor<2x3x4xf32>', which has size 3}}
  %0 = graph.squeeze %x axes = [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @unsqueeze(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'axes' is 5, but a tensor of rank 5 has the axes -5 to 4}}
  %0 = graph.unsqueeze %x axes = [0, 5] : (tensor<2x3x4xf32>) -> tensor<1x2x3x4x1xf32>
  return
}

// -----

func.func @perm_size(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'perm' must have 3 elements, the rank of 'x', but has 2}}
  %0 = graph.transpose %x perm = [0, 1] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @perm_twice(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'perm' must hold each of 0 to 2 once, but holds 1 twice}}
  %0 = graph.transpose %x perm = [0, 1, 1] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @perm_range(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'perm' must hold each of 0 to 2 once, but holds 3}}
  %0 = graph.transpose %x perm = [0, 1, 3] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @expand(%x: tensor<2x3x4xf32>) {
  %s = graph.constant dense<[2, 5, 4]> : tensor<3xi64>
  // expected-error @+1 {{do not broadcast: dimension 1 is both 3 and 5}}
  %0 = graph.expand %x, %s : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @tile_count(%x: tensor<2x3x4xf32>, %n: tensor<2xi64>) {
  // expected-error @+1 {{'repeats' must have 3 elements, the rank of 'x', but is 'tensor<2xi64>'}}
  %0 = graph.tile %x, %n : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @tile_negative(%x: tensor<2xf32>) {
  %n = graph.constant dense<-1> : tensor<1xi64>
  // expected-error @+1 {{'repeats' must not be negative, but holds -1}}
  %0 = graph.tile %x, %n : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @overflow(%x: tensor<4xf32>) {
  %n = graph.constant dense<[4611686018427387904, 4]> : tensor<2xi64>
  // expected-error @+1 {{the result has more elements than 64 bits can count}}
  %0 = graph.expand %x, %n : (tensor<4xf32>, tensor<2xi64>) -> tensor<4611686018427387904x4xf32>
  return
}

// -----

func.func @range_delta(%x: tensor<i64>) {
  %d = graph.constant dense<0> : tensor<i64>
  // expected-error @+1 {{'delta' must not be 0}}
  %0 = graph.range %x, %x, %d : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return
}

// -----

func.func @range_types(%x: tensor<i64>, %y: tensor<f32>) {
  // expected-error @+1 {{'delta' and 'start' must have the same element type}}
  %0 = graph.range %x, %x, %y : (tensor<i64>, tensor<i64>, tensor<f32>) -> tensor<?xi64>
  return
}

// -----

func.func @fill(%n: tensor<2xi64>) {
  // expected-error @+1 {{'value' must have one element, but is 'tensor<2xi64>'}}
  %0 = graph.constant_of_shape %n value = dense<[1, 2]> : tensor<2xi64> : (tensor<2xi64>) -> tensor<?x?xi64>
  return
}

// -----

func.func @fill_negative() {
  %n = graph.constant dense<-1> : tensor<1xi64>
  // expected-error @+1 {{'shape' must not hold negative sizes, but holds -1}}
  %0 = graph.constant_of_shape %n value = dense<1> : tensor<1xi64> : (tensor<1xi64>) -> tensor<?xi64>
  return
}

// -----

func.func @eye(%x: tensor<3xf32>) {
  // expected-error @+1 {{'x' must have rank 2}}
  %0 = graph.eye_like %x : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @depth(%x: tensor<1x6x2x2xf32>) {
  // expected-error @+1 {{'x' has 6 channels, which is no multiple of the square of 'blocksize' = 2}}
  %0 = graph.depth_to_space %x blocksize = 2 : (tensor<1x6x2x2xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @space(%x: tensor<1x6x3x2xf32>) {
  // expected-error @+1 {{dimension 2 of 'x' is 3, which is no multiple of 'blocksize' = 2}}
  %0 = graph.space_to_depth %x blocksize = 2 : (tensor<1x6x3x2xf32>) -> tensor<1x24x1x1xf32>
  return
}

// -----

func.func @blocksize(%x: tensor<1x6x3x2xf32>) {
  // expected-error @+1 {{'blocksize' must be from 1 to 1048576, but is 0}}
  %0 = graph.space_to_depth %x blocksize = 0 : (tensor<1x6x3x2xf32>) -> tensor<1x24x1x1xf32>
  return
}

// -----

func.func @pack_lists(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{'dims' has 2 parts, and 'blocks' 3}}
  %0 = graph.pack %x dims = [0, 1] blocks = [4, 1, 4] inner = [2] shape = [2, 3, 4] : (tensor<8x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @pack_inner(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{'inner' holds 3, which is none of the 3 parts}}
  %0 = graph.pack %x dims = [0, 1, 0] blocks = [4, 1, 4] inner = [3] shape = [2, 3, 4] : (tensor<8x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @pack_dim(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{'dims' must hold 0 to 1, but holds 2}}
  %0 = graph.pack %x dims = [0, 2, 0] blocks = [4, 1, 4] inner = [2] shape = [2, 3, 4] : (tensor<8x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @pack_half(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{dimension 0 must be one part, or blocks and places in them of one size}}
  %0 = graph.pack %x dims = [0, 1] blocks = [4, 1] inner = [] shape = [2, 3] : (tensor<8x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pack_sizes(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{dimension 0 must be one part, or blocks and places in them of one size}}
  %0 = graph.pack %x dims = [0, 1, 0] blocks = [4, 1, 2] inner = [2] shape = [2, 3, 4] : (tensor<8x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @pack_shape(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{'shape' has 21 elements, and the parts 24}}
  %0 = graph.pack %x dims = [0, 1, 0] blocks = [4, 1, 4] inner = [2] shape = [7, 3] : (tensor<8x3xf32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @unpack_elements(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'x' has 24 elements, and the parts 36}}
  %0 = graph.unpack %x dims = [0, 1, 0] blocks = [4, 1, 4] inner = [2] shape = [9, 3] : (tensor<2x3x4xf32>) -> tensor<9x3xf32>
  return
}

// -----

func.func @blob_size() {
  // expected-error @+1 {{resource 'short' has 8 bytes, but 'tensor<3xf32>' takes 12}}
  %0 = graph.constant dense_resource<short> : tensor<3xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F00000040"
    }
  }
#-}
