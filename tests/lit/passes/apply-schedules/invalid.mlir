// RUN: not phaseline-opt %s --apply-schedules=target=a 2>&1 | FileCheck %s
// RUN: phaseline-opt %s --apply-schedules=target=c -o /dev/null

// CHECK: error: target 'a': schedule a.mlir matches nothing
module attributes {phl.schedules = [{target = "a", pattern = "", place = "a.mlir", text = "module attributes {transform.with_named_sequence} { transform.named_sequence @__transform_main(%f: !transform.any_op) { %0 = transform.structured.match ops{[\22linalg.copy\22]} in %f : (!transform.any_op) -> !transform.any_op transform.annotate %0 \22seen\22 : !transform.any_op transform.yield } }"}]} {
  func.func @a_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {phl.target = "a"} {
    return %x : tensor<4xf32>
  }
}
