// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

// Composites.

func.func @operand_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.composite' op operand #0 is 'tensor<4xf32>', but the argument of the region is 'tensor<5xf32>'}}
  "graph.composite"(%x) <{name = "a", target = "t"}> ({
  ^bb0(%a: tensor<5xf32>):
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @operand_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 1 operands, but its region has 0 arguments}}
  "graph.composite"(%x) <{name = "a", target = "t"}> ({
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @yield_count(%x: tensor<4xf32>) {
  %0 = graph.composite "a" target("t") (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'graph.yield' op yields 0 values, but the composite has 1 results}}
    graph.yield
  }
  return
}

// -----

func.func @yield_type(%x: tensor<4xf32>) {
  %0 = graph.composite "a" target("t") (%a = %x) : (tensor<4xf32>) -> tensor<?xf32> {
    // expected-error @+1 {{value #0 is 'tensor<4xf32>', but the result of the composite is 'tensor<?xf32>'}}
    graph.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @isolated(%x: tensor<4xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = graph.composite "a" target("t") () : () -> tensor<4xf32> {
    // expected-error @+1 {{using value defined outside the region}}
    graph.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @terminator(%x: tensor<4xf32>) {
  // expected-error @+1 {{region must end with graph.yield}}
  "graph.composite"(%x) <{name = "a", target = "t"}> ({
  ^bb0(%a: tensor<4xf32>):
    llvm.unreachable
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @stray_yield(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects parent op to be one of 'graph.composite, graph.custom, graph.scan'}}
  graph.yield %x : tensor<4xf32>
}

// -----

func.func @missing_name(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires attribute 'name'}}
  "graph.composite"(%x) <{target = "t"}> ({
  ^bb0(%a: tensor<4xf32>):
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

// Loops.

func.func @scan_state(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.scan' op state #0 is 'tensor<4xf32>', but the next one is 'tensor<4xi32>'}}
  %0 = graph.scan 3 states (%s = %x) sequences () captures () : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = graph.cast %s : tensor<4xf32> to tensor<4xi32>
    graph.yield %1 : tensor<4xi32>
  }
  return
}

// -----

func.func @scan_length(%x: tensor<4xf32>) {
  // expected-error @+1 {{sequence #0 has 4 slices along axis 0, but the loop has 3 steps}}
  %0 = graph.scan 3 states () sequences (%s = %x) captures () : (tensor<4xf32>) -> tensor<3xf32> {
    graph.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @scan_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{sequence #0 of type 'tensor<4xf32>' has no axis 1}}
  %0 = graph.scan 4 states () sequences (%s = %x) captures () attributes {input_axes = array<i64: 1>}
      : (tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @scan_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{result #0 has type 'tensor<5xf32>', which does not fit the inferred type 'tensor<4xf32>'}}
  %0 = "graph.scan"(%x) <{steps = 4, operandSegmentSizes = array<i32: 0, 1, 0, 0>}> ({
  ^bb0(%s: tensor<f32>):
    graph.yield %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @scan_output_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{'output_axes' puts slices of 'tensor<f32>' along axis 1}}
  %0 = graph.scan 4 states () sequences (%s = %x) captures () attributes {output_axes = array<i64: 1>}
      : (tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @scan_lists(%x: tensor<4xf32>) {
  // expected-error @+1 {{'input_reversed' has 2 elements, but must have 1 or none}}
  %0 = graph.scan 4 states () sequences (%s = %x) captures () attributes {input_reversed = array<i64: 1, 0>}
      : (tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @scan_direction(%x: tensor<4xf32>) {
  // expected-error @+1 {{'output_reversed' has 2, but must be 0s and 1s}}
  %0 = graph.scan 4 states () sequences (%s = %x) captures () attributes {output_reversed = array<i64: 2>}
      : (tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @scan_argument(%x: tensor<4xf32>) {
  // expected-error @+1 {{argument #0 of the region must be 'tensor<f32>', but is 'tensor<4xf32>'}}
  "graph.scan"(%x) <{steps = 4, operandSegmentSizes = array<i32: 0, 1, 0, 0>}> ({
  ^bb0(%s: tensor<4xf32>):
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @scan_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 1 operands, but its region has 0 arguments}}
  "graph.scan"(%x) <{steps = 4, operandSegmentSizes = array<i32: 0, 1, 0, 0>}> ({
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @scan_yield(%x: tensor<4xf32>) {
  // expected-error @+1 {{yields 0 values for 1 states}}
  %0 = "graph.scan"(%x) <{steps = 4, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> ({
  ^bb0(%s: tensor<4xf32>):
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scan_steps(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.scan' op has 0 steps, but must have 1 or more}}
  graph.scan 0 states () sequences () captures () : () -> () {
    graph.yield
  }
  return
}

// -----

func.func @scan_list_kind(%x: tensor<4xf32>) {
  // expected-error @+1 {{"input_axes" must be a list such as array<i64: 1>, but is array<i32: 0>}}
  %0 = graph.scan 4 states () sequences (%s = %x) captures () attributes {input_axes = array<i32: 0>}
      : (tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @scan_limit(%x: tensor<4xf32>, %n: tensor<1xi64>) -> tensor<f32> {
  // expected-error @+1 {{operand #1 must be 0D tensor of 64-bit signless integer values, but got 'tensor<1xi64>'}}
  %r = graph.scan 4 limit %n states () sequences (%e = %x) captures () : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32> {
    graph.yield %e : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @scan_open(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.scan' op has '?' steps, but no sequence that they are those of}}
  %0 = graph.scan ? states (%s = %x) sequences () captures () : (tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %s : tensor<4xf32>
  }
  return
}
