// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-split-patches))' | FileCheck %s --check-prefixes=CHECK,MOST
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-split-patches{arena-limit=8192}))' | FileCheck %s --check-prefixes=CHECK,FITS
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-split-patches{max-recompute=0}))' | FileCheck %s --check-prefixes=CHECK,FITS

// The large value is the input, which the caller has.
// CHECK-LABEL: func.func @one_window
// CHECK-NOT: graph.slice
// CHECK: return
func.func @one_window(%x: tensor<1x2x16x16xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<1x2x16x16xf32> {
  %a = graph.conv %x, %w pads = [1, 1, 1, 1]
      : (tensor<1x2x16x16xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x16x16xf32>
  return %a : tensor<1x2x16x16xf32>
}

// A softmax over rows needs all of them.
// CHECK-LABEL: func.func @over_rows
// CHECK-NOT: graph.slice
// CHECK: return
func.func @over_rows(%x: tensor<1x2x16x16xf32>, %w: tensor<8x2x1x1xf32>) -> tensor<1x8x1x1xf32> {
  %a = graph.conv %x, %w : (tensor<1x2x16x16xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x16x16xf32>
  %b = graph.softmax %a axis = 2 : tensor<1x8x16x16xf32>
  %c = graph.global_max_pool %b : (tensor<1x8x16x16xf32>) -> tensor<1x8x1x1xf32>
  return %c : tensor<1x8x1x1xf32>
}

// 8192 bytes between two windows: patches help, but not if so many are few enough, nor without
// computing some rows twice.
// CHECK-LABEL: func.func @two_windows
// MOST: graph.slice
// FITS-NOT: graph.slice
// CHECK: return
func.func @two_windows(%x: tensor<1x2x16x16xf32>, %w: tensor<8x2x3x3xf32>, %v: tensor<2x8x3x3xf32>)
    -> tensor<1x2x16x16xf32> {
  %a = graph.conv %x, %w pads = [1, 1, 1, 1]
      : (tensor<1x2x16x16xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x16x16xf32>
  %b = graph.conv %a, %v pads = [1, 1, 1, 1]
      : (tensor<1x8x16x16xf32>, tensor<2x8x3x3xf32>) -> tensor<1x2x16x16xf32>
  return %b : tensor<1x2x16x16xf32>
}
