// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=sapphirerapids},func.func(graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels)" -split-input-file | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=graniterapids},func.func(graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels)" -split-input-file | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels{vector-bits=512 byte-products=true byte-matrices=true})" -split-input-file | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=sapphirerapids mattr=-amx-int8},func.func(graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels)" -split-input-file | FileCheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: llvm.x86.t

// A product reads its image where it is. 32 points and 32 channels are four registers of sums; the last chunk of rows
// of 100 bytes has 36, for which there are registers of other shapes: 64 bytes are in the configuration of the others.
// CHECK-LABEL: func.func @product
// CHECK: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<6400xi8>
// CHECK: tir.call_extern @[[K:k_matmul_[0-9a-f]*]]
// CHECK: func.func private @[[K]](%[[X:[a-z0-9]+]]: memref<64x100xi8>, %[[W:[a-z0-9]+]]: memref<6400xi8>, %[[Y:[a-z0-9]+]]: memref<64x64xi32>
// CHECK-SAME: phl.amx
// CHECK: arith.constant dense<[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 64, 0, 64, 0, 64, 0, 36, 0, 64, 0, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 9, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0]> : vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: vector.load
// CHECK: vector.store
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
func.func @product(%x: tensor<64x100xui8>) -> tensor<64x64xi32> {
  %w = graph.constant dense<3> : tensor<100x64xi8>
  %0 = graph.matmul_integer %x, %w : (tensor<64x100xui8>, tensor<100x64xi8>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

// -----

// Rows of windows that reach beyond the image are copied, with zeros beside them: three taps of 64 bytes follow each other.
// Images with signs have an instruction of their own, so that sums need not start from anything.
// CHECK-LABEL: func.func @window
// CHECK: func.func private @[[K:k_conv_[0-9a-f]*]]
// CHECK-SAME: phl.amx
// CHECK: %[[COPY:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{[0-9]+}}xi8>
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.tdpbssd"
// CHECK-NOT: vpdpbusd
func.func @window(%x: tensor<1x64x28x28xi8>) -> tensor<1x64x28x28xi32> {
  %w = graph.constant dense<3> : tensor<64x64x3x3xi8>
  %0 = graph.conv_integer %x, %w pads = [1, 1, 1, 1] : (tensor<1x64x28x28xi8>, tensor<64x64x3x3xi8>) -> tensor<1x64x28x28xi32>
  return %0 : tensor<1x64x28x28xi32>
}

// -----

// Bytes of 9 bits less their zero point are sums of two, one product each.
// CHECK-LABEL: func.func @two_bytes
// CHECK: graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_{{[0-9]}}> : tensor<8192xi8>
// CHECK: func.func private
// CHECK-SAME: phl.amx
func.func @two_bytes(%x: tensor<64x64xui8>) -> tensor<64x64xi32> {
  %w = graph.constant dense<200> : tensor<64x64xui8>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.matmul_integer %x, %w b_zero_point %z : (tensor<64x64xui8>, tensor<64x64xui8>, tensor<ui8>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

// -----

// Few points wait for weights: vectors do.
// CHECK-LABEL: func.func @few
// CHECK: llvm.x86.avx512.vpdpbusd
// CHECK-NOT: phl.amx
func.func @few(%x: tensor<2x256xui8>) -> tensor<2x64xi32> {
  %w = graph.constant dense<3> : tensor<256x64xi8>
  %0 = graph.matmul_integer %x, %w : (tensor<2x256xui8>, tensor<256x64xi8>) -> tensor<2x64xi32>
  return %0 : tensor<2x64xi32>
}
