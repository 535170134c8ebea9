// RUN: phaseline-opt %s --convert-graph-to-linalg --split-input-file --verify-diagnostics

func.func @starts(%x: tensor<4x5xf32>, %i: tensor<1xi64>, %e: tensor<1xi64>) -> tensor<2x5xf32> {
  // expected-error @+1 {{'graph.slice' op needs its operand 'starts' at compile time, but it is not a constant; store it in the model as a constant or initializer, or give the values of the inputs that it comes from: --value NAME=V}}
  %0 = graph.slice %x, %i, %e : (tensor<4x5xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @pads(%x: tensor<4x5xf32>, %p: tensor<4xi64>) -> tensor<6x5xf32> {
  // expected-error @+1 {{'graph.pad' op needs its operand 'pads' at compile time}}
  %0 = graph.pad %x, %p : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// -----

func.func @pad_nothing(%x: tensor<0x5xf32>) -> tensor<2x5xf32> {
  %p = graph.constant dense<[1, 0, 1, 0]> : tensor<4xi64>
  // expected-error @+1 {{'graph.pad' op pads axis 0 in mode 'edge', but that axis has no element to repeat; use mode 'constant'}}
  %0 = graph.pad %x, %p mode = "edge" : (tensor<0x5xf32>, tensor<4xi64>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @gather_nothing(%x: tensor<0x5xf32>, %i: tensor<2xi64>) -> tensor<2x5xf32> {
  // expected-error @+1 {{'graph.gather' op picks elements from its operand of type tensor<0x5xf32>, which has none}}
  %0 = graph.gather %x, %i : (tensor<0x5xf32>, tensor<2xi64>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @non_zero(%x: tensor<4x5xf32>) -> tensor<2x3xi64> {
  // expected-error @+1 {{'graph.non_zero' op has a result whose shape depends on the values of 'x', which are not constant}}
  %0 = graph.non_zero %x : (tensor<4x5xf32>) -> tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// -----

func.func @scales(%x: tensor<1x1x4xf32>, %s: tensor<3xf32>) -> tensor<1x1x8xf32> {
  // expected-error @+1 {{'graph.resize' op needs its operand 'scales' at compile time}}
  %0 = graph.resize %x scales %s : (tensor<1x1x4xf32>, tensor<3xf32>) -> tensor<1x1x8xf32>
  return %0 : tensor<1x1x8xf32>
}
