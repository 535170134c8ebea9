// Tiles of rows of each product.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @product(%function: !transform.any_op) {
    %products = transform.structured.match interface{LinalgOp} attributes {phl.pattern = "product"}
        in %function : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %products tile_sizes [${option.rows}]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
