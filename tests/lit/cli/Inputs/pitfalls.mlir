// Pitfalls of dividing a network: values that are used twice or returned twice, operations
// with several results that different targets use, shared constants, a function with the name that
// a region would get, types of 16 bits, and control flow that uses values from outside of it.
func.func private @c_0(%x: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {phl.target = "host"} {
  %0 = graph.tanh %x : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
func.func @main(%x: tensor<2x8xf32> {phl.name = "x"}, %c: tensor<1xi64> {phl.name = "c"})
    -> (tensor<2x8xf32> {phl.name = "p"}, tensor<2x8xf32> {phl.name = "q"}, tensor<2x3xf32> {phl.name = "r"}) {
  %w = graph.constant dense<0.125> : tensor<8x8xf32>
  %a = graph.matmul %x, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %twice = graph.add %a, %a : tensor<2x8xf32>
  %b = call @c_0(%twice) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %parts:2 = graph.split %b axis = 1 split = [3, 5] : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>)
  %left = graph.sigmoid %parts#0 : tensor<2x3xf32>
  %right = graph.relu %parts#1 {phl.target = "host"} : tensor<2x5xf32>
  %both = graph.concat %right, %left axis = 1 : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<2x8xf32>
  %i = arith.constant 0 : index
  %n = tensor.extract %c[%i] : tensor<1xi64>
  %one = arith.constant 1 : i64
  %is = arith.cmpi eq, %n, %one : i64
  %either = scf.if %is -> tensor<2x8xf32> {
    %s = arith.constant 0.75 : f32
    %t = tensor.insert %s into %twice[%i, %i] : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  } else {
    scf.yield %both : tensor<2x8xf32>
  }
  %half = graph.cast %either : tensor<2x8xf32> to tensor<2x8xf16>
  %h = graph.constant dense<0.333> : tensor<2x8xf16>
  %product = graph.mul %half, %h : tensor<2x8xf16>
  %back = graph.cast %product : tensor<2x8xf16> to tensor<2x8xf32>
  %d = graph.matmul %back, %w {phl.target = "host"} : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %e = graph.matmul %d, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %f = graph.add %e, %twice : tensor<2x8xf32>
  return %f, %f, %left : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x3xf32>
}
