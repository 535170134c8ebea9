// The same with the option as a parameter of the sequence.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @product(%function: !transform.any_op, %rows: !transform.param<i64> {phl.option = "rows"}) {
    %products = transform.structured.match interface{LinalgOp} attributes {phl.pattern = "product"}
        in %function : (!transform.any_op) -> !transform.any_op
    transform.foreach %products : !transform.any_op {
    ^bb0(%product: !transform.any_op):
      %tiled, %loops = transform.structured.tile_using_for %product tile_sizes [%rows]
          : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    }
    transform.yield
  }
}
