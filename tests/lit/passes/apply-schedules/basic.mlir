// RUN: phaseline-opt %s --apply-schedules=target=a | FileCheck %s
// RUN: phaseline-opt %s --apply-schedules=target=c | FileCheck %s --check-prefix=OTHER

// CHECK-LABEL: func.func @a_0
// CHECK: linalg.fill {seen}
// CHECK-LABEL: func.func @b_0
// CHECK-NOT: seen
// OTHER-LABEL: func.func @a_0
// OTHER-NOT: seen
module attributes {phl.schedules = [{target = "a", pattern = "", place = "a.mlir", text = "module attributes {transform.with_named_sequence} { transform.named_sequence @__transform_main(%f: !transform.any_op) { %0 = transform.structured.match ops{[\22linalg.fill\22]} in %f : (!transform.any_op) -> !transform.any_op transform.annotate %0 \22seen\22 : !transform.any_op transform.yield } }"}]} {
  func.func @a_0(%x: tensor<4xf32>, %c: f32) -> tensor<4xf32> attributes {phl.target = "a"} {
    %0 = linalg.fill ins(%c : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @b_0(%x: tensor<4xf32>, %c: f32) -> tensor<4xf32> attributes {phl.target = "b"} {
    %0 = linalg.fill ins(%c : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
