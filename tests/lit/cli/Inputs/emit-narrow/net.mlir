// Numbers of 1, 8 and 16 bits, and maxima.
func.func @main(%a: tensor<4xi8>, %b: tensor<4xi8>, %c: tensor<4xi16>, %d: tensor<4xi16>, %e: tensor<4xi1>,
                %f: tensor<4xi1>, %h: tensor<4xf16>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xi8>, tensor<4xi16>, tensor<4xi1>, tensor<4xf16>, tensor<4xf32>) {
  %0 = graph.add %a, %b : tensor<4xi8>
  %1 = graph.mul %c, %d : tensor<4xi16>
  %2 = graph.xor %e, %f : tensor<4xi1>
  %3 = graph.exp %h : tensor<4xf16>
  %4 = graph.add %3, %h : tensor<4xf16>
  %5 = graph.max %x, %y : tensor<4xf32>
  return %0, %1, %2, %4, %5 : tensor<4xi8>, tensor<4xi16>, tensor<4xi1>, tensor<4xf16>, tensor<4xf32>
}
