// An operator in the body of a loop.
func.func @main(%x: tensor<16x8xf32> {phl.name = "x"}, %h: tensor<8xf32> {phl.name = "h"})
    -> (tensor<8xf32> {phl.name = "y"}) {
  %last = graph.scan 16 states (%s = %h) sequences (%row = %x) captures ()
      : (tensor<8xf32>, tensor<16x8xf32>) -> (tensor<8xf32>) {
    %sum = graph.add %s, %row : tensor<8xf32>
    %next = graph.custom "SoftGate" of "com.acme" (%sum) {groups = array<i64: 1, 0>} : (tensor<8xf32>) -> tensor<8xf32>
    graph.yield %next : tensor<8xf32>
  }
  return %last : tensor<8xf32>
}
