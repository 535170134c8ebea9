// A product plus a third vector: three inputs that are read in step.
func.func @main(%a: tensor<1000xf32>, %b: tensor<1000xf32>, %c: tensor<1000xf32>) -> tensor<1000xf32> {
  %p = graph.mul %a, %b : tensor<1000xf32>
  %y = graph.add %p, %c : tensor<1000xf32>
  return %y : tensor<1000xf32>
}
