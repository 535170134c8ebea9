// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

func.func @name(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.custom' op has no name}}
  %0 = graph.custom "" of "com.acme" (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @groups(%x: tensor<4xf32>) {
  // expected-error @+1 {{has groups of 3 operands, but 2 operands}}
  %0 = graph.custom "A" of "b" (%x, %x) {groups = array<i64: 1, 2>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @group(%x: tensor<4xf32>) {
  // expected-error @+1 {{has a group of -1 operands}}
  %0 = graph.custom "A" of "b" (%x) {groups = array<i64: -1, 2>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 1 operands, but its region has 0 arguments}}
  %0 = graph.custom "A" of "b" (%x) : (tensor<4xf32>) -> tensor<4xf32> reference {
    %1 = graph.constant dense<0.0> : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @result(%x: tensor<4xf32>) {
  %0 = graph.custom "A" of "b" (%x) : (tensor<4xf32>) -> tensor<5xf32> reference {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{value #0 is 'tensor<4xf32>', but the result of the operator is 'tensor<5xf32>'}}
    graph.yield %a : tensor<4xf32>
  }
  return
}
