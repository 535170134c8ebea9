// RUN: phaseline-opt %s --apply-hook='target=stitch hook=graph-to-tir target-path=%{root}/tests/targets' | FileCheck %s

// The target's program gives the function of its own and a helper; functions of others are not its business.
// CHECK-LABEL: func.func private @stitch_0
// CHECK-NEXT: call @helper
// CHECK-LABEL: func.func private @helper({{.*}}phl.target = "stitch"
// CHECK: tir.call_extern @stitch_relu
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @stitch_0
// CHECK-NEXT: return
module attributes {phl.model = "net", phl.target_spec = "stitch, llvm"} {
  func.func private @stitch_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {phl.target = "stitch"} {
    %0 = graph.relu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {phl.target = "llvm"} {
    %0 = call @stitch_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
