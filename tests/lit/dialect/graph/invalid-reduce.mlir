// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

// Ops along axes.

func.func @axis(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'axes' is 3, but a tensor of rank 3 has the axes -3 to 2}}
  %0 = graph.reduce_sum %x axes = [3] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @twice(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'axes' names axis 1 twice}}
  %0 = graph.reduce_sum %x axes = [1, -2] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @result(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<2x1x4xf32>'}}
  %0 = graph.reduce_sum %x axes = [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @arg_empty(%x: tensor<0xf32>) {
  // expected-error @+1 {{has no element to pick along axis 0 of 'tensor<0xf32>'}}
  %0 = graph.argmax %x : (tensor<0xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @arg_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{'axis' is 0, but a tensor of rank 0 has no axes}}
  %0 = graph.argmax %x : (tensor<f32>) -> tensor<i64>
  return
}

// -----

func.func @cumsum(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'axis' is 3}}
  %0 = graph.cumsum %x axis = 3 : tensor<2x3x4xf32>
  return
}

// -----

func.func @top_k(%x: tensor<2x3x4xf32>) {
  %k = graph.constant dense<5> : tensor<1xi64>
  // expected-error @+1 {{'k' is 5, but axis 2 of 'tensor<2x3x4xf32>' has 4 elements}}
  %0:2 = graph.top_k %x, %k : (tensor<2x3x4xf32>, tensor<1xi64>) -> (tensor<2x3x4xf32>, tensor<2x3x4xi64>)
  return
}

// -----

func.func @det(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{matrices of 'x' must be square, but have 3 rows and 4 columns}}
  %0 = graph.det %x : (tensor<2x3x4xf32>) -> tensor<2xf32>
  return
}
