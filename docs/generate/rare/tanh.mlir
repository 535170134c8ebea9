module attributes {transform.with_named_sequence} {
  transform.named_sequence @tanh(%function: !transform.any_op) {
    transform.yield
  }
}
