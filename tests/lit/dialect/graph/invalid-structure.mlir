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
  // expected-error @+1 {{expects parent op 'graph.composite'}}
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
