// RUN: phaseline-opt %s --graph-partition="targets={toy -lanes=2, llvm} target-path=%{root}/tests/targets" | FileCheck %s

// Two neighbours in NHWC: one transpose goes in, one comes out, none is left between them.
// CHECK-LABEL: func.func private @toy_0
// CHECK-SAME: phl.target = "toy"
// CHECK: graph.composite "toy.conv2d"
// CHECK-SAME: #tir.struct<"struct toy_conv", {c = 2 : i32
// CHECK-SAME: kernel.h = 1 : i32
// CHECK-SAME: callee = "toy_conv2d"
// CHECK-SAME: scratch_bytes = 8
// CHECK: graph.yield
// CHECK-NEXT: }
// CHECK-NEXT: graph.composite "toy.conv2d"
// CHECK: graph.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-LABEL: func.func @main
// CHECK: graph.transpose {{.*}}perm = [0, 2, 3, 1]
// CHECK-NEXT: call @toy_0
// CHECK-NEXT: graph.transpose {{.*}}perm = [0, 3, 1, 2]
// CHECK-NEXT: return
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.relu %0 : tensor<1x2x4x4xf32>
  %2 = graph.conv %1, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}
