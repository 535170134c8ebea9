// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

// Ops that move, pick and join elements.

func.func @concat_size(%a: tensor<4x5xf32>, %b: tensor<4x6xf32>) {
  // expected-error @+1 {{dimension 1 of operand #1 is 6, but that of the others is 5}}
  %0 = graph.concat %a, %b axis = 0 : (tensor<4x5xf32>, tensor<4x6xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @concat_rank(%a: tensor<4x5xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{operand #1 must have the rank and element type of operand #0, 'tensor<4x5xf32>', but is 'tensor<4xf32>'}}
  %0 = graph.concat %a, %b axis = 0 : (tensor<4x5xf32>, tensor<4xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @+1 {{needs one operand or more}}
  %0 = "graph.concat"() <{axis = 0 : i64}> : () -> tensor<1xf32>
  return
}

// -----

func.func @split_sum(%a: tensor<4x5xf32>) {
  // expected-error @+1 {{'split' sums up to 3, but axis 0 of 'tensor<4x5xf32>' has size 4}}
  %0:2 = graph.split %a split = [1, 2] : (tensor<4x5xf32>) -> (tensor<1x5xf32>, tensor<2x5xf32>)
  return
}

// -----

func.func @split_results(%a: tensor<4x5xf32>) {
  // expected-error @+1 {{has 1 results, but must have 2}}
  %0 = graph.split %a split = [1, 3] : (tensor<4x5xf32>) -> tensor<1x5xf32>
  return
}

// -----

func.func @slice_axes(%a: tensor<4x5xf32>, %i: tensor<1xi64>) {
  %x = graph.constant dense<2> : tensor<1xi64>
  // expected-error @+1 {{'axes' is 2, but a tensor of rank 2 has the axes -2 to 1}}
  %0 = graph.slice %a, %i, %i axes %x : (tensor<4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_lists(%a: tensor<4x5xf32>, %i: tensor<1xi64>, %j: tensor<2xi64>) {
  // expected-error @+1 {{'ends' must have 1 elements, as many as 'starts', but is 'tensor<2xi64>'}}
  %0 = graph.slice %a, %i, %j : (tensor<4x5xf32>, tensor<1xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_step(%a: tensor<4x5xf32>, %i: tensor<1xi64>) {
  %s = graph.constant dense<0> : tensor<1xi64>
  // expected-error @+1 {{'steps' must not hold 0}}
  %0 = graph.slice %a, %i, %i steps %s : (tensor<4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_many(%a: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'starts' names 2 axes, but 'x' has rank 1}}
  %0 = graph.slice %a, %i, %i : (tensor<4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @pads_count(%a: tensor<4x5xf32>, %p: tensor<2xi64>) {
  // expected-error @+1 {{'pads' must have 4 elements, two per axis, but is 'tensor<2xi64>'}}
  %0 = graph.pad %a, %p : (tensor<4x5xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @pads_crop(%a: tensor<4xf32>) {
  %p = graph.constant dense<[-3, -2]> : tensor<2xi64>
  // expected-error @+1 {{'pads' of -3 and -2 do not fit axis 0 of 'tensor<4xf32>'}}
  %0 = graph.pad %a, %p : (tensor<4xf32>, tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_value(%a: tensor<4xf32>, %p: tensor<2xi64>, %v: tensor<i64>) {
  // expected-error @+1 {{'value' and 'x' must have the same element type}}
  %0 = graph.pad %a, %p value %v : (tensor<4xf32>, tensor<2xi64>, tensor<i64>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_mode(%a: tensor<4xf32>, %p: tensor<2xi64>) {
  // expected-error @+1 {{one of constant, reflect, edge, wrap}}
  %0 = graph.pad %a, %p mode = "mirror" : (tensor<4xf32>, tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @gather_range(%a: tensor<4x5xf32>) {
  %i = graph.constant dense<[0, 4]> : tensor<2xi64>
  // expected-error @+1 {{'indices' holds 4, but axis 0 of 'tensor<4x5xf32>' has size 4}}
  %0 = graph.gather %a, %i : (tensor<4x5xf32>, tensor<2xi64>) -> tensor<2x5xf32>
  return
}

// -----

func.func @gather_axis(%a: tensor<4x5xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{'axis' is 2}}
  %0 = graph.gather %a, %i axis = 2 : (tensor<4x5xf32>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_elements(%a: tensor<4x5xf32>, %i: tensor<4x6xi64>) {
  // expected-error @+1 {{dimension 1 of 'indices' is 6, but that of 'x' only 5}}
  %0 = graph.gather_elements %a, %i : (tensor<4x5xf32>, tensor<4x6xi64>) -> tensor<4x6xf32>
  return
}

// -----

func.func @gather_nd_depth(%a: tensor<4x5xf32>, %i: tensor<2x3xi64>) {
  // expected-error @+1 {{the last dimension of 'indices' is 3, but must be from 1 to 2}}
  %0 = graph.gather_nd %a, %i : (tensor<4x5xf32>, tensor<2x3xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_unknown(%a: tensor<4x5xf32>, %i: tensor<2x?xi64>) {
  // expected-error @+1 {{the last dimension of 'indices', 'tensor<2x?xi64>', must be known: it determines the rank}}
  %0 = graph.gather_nd %a, %i : (tensor<4x5xf32>, tensor<2x?xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_batch(%a: tensor<4x5xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{batch dimension 0 is 4 in 'x', but 3 in 'indices'}}
  %0 = graph.gather_nd %a, %i batch_dims = 1 : (tensor<4x5xf32>, tensor<3x1xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @scatter_updates(%a: tensor<4x5xf32>, %i: tensor<3x2xi64>, %u: tensor<3x3xf32>) {
  // expected-error @+1 {{'updates' must have the shape of 'indices'}}
  %0 = graph.scatter_elements %a, %i, %u : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3x3xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_nd_updates(%a: tensor<4x5xf32>, %i: tensor<3x1xi64>, %u: tensor<3xf32>) {
  // expected-error @+1 {{'updates' must be 'tensor<3x5xf32>' for these 'indices', but is 'tensor<3xf32>'}}
  %0 = graph.scatter_nd %a, %i, %u : (tensor<4x5xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @compress(%a: tensor<4x5xf32>, %c: tensor<1x4xi1>) {
  // expected-error @+1 {{'condition' must have rank 1}}
  %0 = graph.compress %a, %c : (tensor<4x5xf32>, tensor<1x4xi1>) -> tensor<?xf32>
  return
}

// -----

func.func @one_hot_values(%i: tensor<3xi64>, %d: tensor<i64>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'values' must have 2 elements, that for off and that for on}}
  %0 = graph.one_hot %i, %d, %v : (tensor<3xi64>, tensor<i64>, tensor<3xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @one_hot_depth(%i: tensor<3xi64>, %v: tensor<2xf32>) {
  %d = graph.constant dense<0> : tensor<i64>
  // expected-error @+1 {{'depth' must be positive, but is 0}}
  %0 = graph.one_hot %i, %d, %v : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @trilu(%a: tensor<4xf32>) {
  // expected-error @+1 {{'x' must have rank 2 or more}}
  %0 = graph.trilu %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reverse_axes(%a: tensor<4x5xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{'batch_axis' and 'time_axis' are both 0}}
  %0 = graph.reverse_sequence %a, %l batch_axis = 0 : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @reverse_lens(%a: tensor<4x5xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{'lens' must have 5 elements, the size of the batch}}
  %0 = graph.reverse_sequence %a, %l : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @resize_neither(%a: tensor<4x5xf32>) {
  // expected-error @+1 {{needs either 'scales' or 'sizes'}}
  %0 = graph.resize %a : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @resize_both(%a: tensor<4x5xf32>, %s: tensor<2xf32>, %z: tensor<2xi64>) {
  // expected-error @+1 {{needs either 'scales' or 'sizes', but has both}}
  %0 = graph.resize %a scales %s sizes %z : (tensor<4x5xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @resize_count(%a: tensor<4x5xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{'scales' must have 2 elements, one per axis}}
  %0 = graph.resize %a scales %s : (tensor<4x5xf32>, tensor<3xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @resize_scale(%a: tensor<4x5xf32>) {
  %s = graph.constant dense<[1.0, 0.0]> : tensor<2xf32>
  // expected-error @+1 {{'scales' must be positive}}
  %0 = graph.resize %a scales %s : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @resize_roi(%a: tensor<4x5xf32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{needs 'roi' for 'coordinate_transformation_mode' = "tf_crop_and_resize"}}
  %0 = graph.resize %a scales %s {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @resize_policy(%a: tensor<4x5xf32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{'keep_aspect_ratio_policy' needs 'sizes'}}
  %0 = graph.resize %a scales %s {keep_aspect_ratio_policy = "not_larger"} : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @grid(%x: tensor<1x3x4x5xf32>, %g: tensor<1x6x7x3xf32>) {
  // expected-error @+1 {{the last dimension of 'grid' must be 2, one coordinate per spatial dimension, but is 3}}
  %0 = graph.grid_sample %x, %g : (tensor<1x3x4x5xf32>, tensor<1x6x7x3xf32>) -> tensor<1x3x6x7xf32>
  return
}

// -----

func.func @segments(%a: tensor<4x5xf32>) {
  // expected-error @+1 {{operandSegmentSizes}}
  %0 = "graph.clip"(%a) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @roi_align_row_of_five(%x: tensor<1x3x8x8xf32>, %r: tensor<2x5xf32>, %b: tensor<2xi64>) -> tensor<2x3x1x1xf32> {
  // expected-error @+1 {{a row of 'rois' must hold 4 numbers, but holds 5}}
  %0 = graph.roi_align %x, %r, %b : (tensor<1x3x8x8xf32>, tensor<2x5xf32>, tensor<2xi64>) -> tensor<2x3x1x1xf32>
  return %0 : tensor<2x3x1x1xf32>
}

// -----

func.func @roi_align_images(%x: tensor<1x3x8x8xf32>, %r: tensor<2x4xf32>, %b: tensor<3xi64>) -> tensor<2x3x1x1xf32> {
  // expected-error @+1 {{'rois' has 2 regions, but 'batch' 3}}
  %0 = graph.roi_align %x, %r, %b : (tensor<1x3x8x8xf32>, tensor<2x4xf32>, tensor<3xi64>) -> tensor<2x3x1x1xf32>
  return %0 : tensor<2x3x1x1xf32>
}

// -----

func.func @roi_align_samples(%x: tensor<1x3x8x8xf32>, %r: tensor<2x4xf32>, %b: tensor<2xi64>) -> tensor<2x3x1x1xf32> {
  // expected-error @+1 {{'sampling_ratio' must be from 0 to 1024, but is 1025}}
  %0 = graph.roi_align %x, %r, %b {sampling_ratio = 1025 : i64} : (tensor<1x3x8x8xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x3x1x1xf32>
  return %0 : tensor<2x3x1x1xf32>
}
