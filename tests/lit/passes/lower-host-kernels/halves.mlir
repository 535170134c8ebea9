// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=znver4},func.func(graph-widen-half,graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels,canonicalize)" -split-input-file | FileCheck %s --check-prefixes=CHECK,VECTORS
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-widen-half,graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels{vector-bits=512 half-products=true},canonicalize)" -split-input-file | FileCheck %s --check-prefixes=CHECK,VECTORS
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=sapphirerapids},func.func(graph-widen-half,graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels,canonicalize)" -split-input-file | FileCheck %s --check-prefixes=CHECK,TILES
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=haswell},func.func(graph-widen-half,graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels,canonicalize)" -split-input-file | FileCheck %s --check-prefix=WITHOUT
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=x86-64},func.func(graph-widen-half,graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels,canonicalize)" -split-input-file | FileCheck %s --check-prefix=OLD

// WITHOUT-NOT: bf16ps
// OLD-NOT: bf16ps

// The image and the weights are bf16, sums f32, which are rounded where the network rounds. What is read by kernels of
// bf16 only is bf16 in memory.
// CHECK-LABEL: func.func @products
// CHECK-NOT: graph.cast
// CHECK: tir.call_extern @[[K:k_matmul_[0-9a-f]*]]{{.*}}tensor<64x96xbf16>, tensor<6144xbf16>{{.*}} outs({{.*}} : tensor<64x64xbf16>)
// CHECK: tir.call_extern @[[L:k_matmul_[0-9a-f]*]]{{.*}}tensor<64x64xbf16>, tensor<2048xbf16>{{.*}} outs({{.*}} : tensor<64x32xbf16>)
// CHECK: func.func private @[[K]]
// TILES-SAME: phl.amx
// TILES: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// TILES: arith.addf
// VECTORS-SAME: phl.vectorized
// VECTORS: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// WITHOUT-LABEL: func.func @products
// WITHOUT: tir.call_extern {{.*}}tensor<64x96xf32>, tensor<6144xf32>
func.func @products(%x: tensor<64x96xbf16>) -> tensor<64x32xbf16> {
  %w = graph.constant dense<1.5> : tensor<96x64xbf16>
  %v = graph.constant dense<2.5> : tensor<64x32xbf16>
  %0 = graph.matmul %x, %w : (tensor<64x96xbf16>, tensor<96x64xbf16>) -> tensor<64x64xbf16>
  %1 = graph.relu %0 : tensor<64x64xbf16>
  %2 = graph.matmul %1, %v : (tensor<64x64xbf16>, tensor<64x32xbf16>) -> tensor<64x32xbf16>
  return %2 : tensor<64x32xbf16>
}

// -----

// The image is transposed as bf16.
// CHECK-LABEL: func.func @image
// CHECK: graph.transpose %{{.*}} : (tensor<1x32x14x14xbf16>) -> tensor<1x14x14x32xbf16>
// CHECK: tir.call_extern @k_conv_{{.*}}tensor<1x14x14x32xbf16>, tensor<2048xbf16>
func.func @image(%x: tensor<1x32x14x14xbf16>) -> tensor<1x64x14x14xbf16> {
  %w = graph.constant dense<0.5> : tensor<64x32x1x1xbf16>
  %0 = graph.conv %x, %w : (tensor<1x32x14x14xbf16>, tensor<64x32x1x1xbf16>) -> tensor<1x64x14x14xbf16>
  return %0 : tensor<1x64x14x14xbf16>
}

// -----

// Few rows wait for weights, which stay f16 where vectors of them are widened in an instruction.
// CHECK-LABEL: func.func @few_rows
// CHECK: tir.call_extern {{.*}}tensor<2x128xf32>, tensor<16384xf16>
// CHECK: func.func private
// CHECK: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// WITHOUT-LABEL: func.func @few_rows
// WITHOUT: tir.call_extern {{.*}}tensor<2x128xf32>, tensor<16384xf16>
// OLD-LABEL: func.func @few_rows
// OLD: tir.call_extern {{.*}}tensor<2x128xf32>, tensor<16384xf32>
func.func @few_rows(%x: tensor<2x128xf16>) -> tensor<2x128xf16> {
  %w = graph.constant dense<1.0009765625> : tensor<128x128xf16>
  %0 = graph.matmul %x, %w : (tensor<2x128xf16>, tensor<128x128xf16>) -> tensor<2x128xf16>
  return %0 : tensor<2x128xf16>
}

// -----

// Weights of networks in f32 that bf16 has are read as that by few rows, on any machine.
// CHECK-LABEL: func.func @stored
// CHECK: tir.call_extern {{.*}}tensor<2x128xf32>, tensor<16384xbf16>
// OLD-LABEL: func.func @stored
// OLD: tir.call_extern {{.*}}tensor<2x128xf32>, tensor<16384xbf16>
// WITHOUT-LABEL: func.func @stored
// WITHOUT: tir.call_extern {{.*}}tensor<2x128xf32>, tensor<16384xbf16>
func.func @stored(%x: tensor<2x128xf32>) -> tensor<2x128xf32> {
  %w = graph.constant dense<1.5> : tensor<128x128xf32>
  %0 = graph.matmul %x, %w : (tensor<2x128xf32>, tensor<128x128xf32>) -> tensor<2x128xf32>
  return %0 : tensor<2x128xf32>
}

// -----

// f16 is not multiplied in pairs; nor are weights that bf16 does not have, or images in f32.
// CHECK-LABEL: func.func @others
// CHECK: tir.call_extern {{.*}}tensor<64x96xf32>, tensor<6144xf32>
// CHECK: tir.call_extern {{.*}}tensor<64x96xf32>, tensor<6144xf32>
// CHECK: tir.call_extern {{.*}}tensor<64x96xf32>, tensor<6144xf32>
func.func @others(%x: tensor<64x96xf16>, %y: tensor<64x96xf32>, %z: tensor<64x96xbf16>) -> (tensor<64x64xf16>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %w = graph.constant dense<1.5> : tensor<96x64xf16>
  %0 = graph.matmul %x, %w : (tensor<64x96xf16>, tensor<96x64xf16>) -> tensor<64x64xf16>
  %v = graph.constant dense<1.5> : tensor<96x64xf32>
  %1 = graph.matmul %y, %v : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
  %u = graph.constant dense<1.001> : tensor<96x64xf32>
  %2 = graph.cast %z : tensor<64x96xbf16> to tensor<64x96xf32>
  %3 = graph.matmul %2, %u : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
  return %0, %1, %3 : tensor<64x64xf16>, tensor<64x64xf32>, tensor<64x64xf32>
}
