// Loops know their names in listings.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%function: !transform.any_op) {
    %marked = transform.structured.match interface{LinalgOp} in %function
        : (!transform.any_op) -> !transform.any_op
    transform.annotate %marked "tiler.seen" : !transform.any_op
    transform.yield
  }
}
