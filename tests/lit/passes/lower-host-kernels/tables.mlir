// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels{vector-bits=512})" | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels{vector-bits=256})" | FileCheck %s --check-prefixes=CHECK,BYTES

// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels{vector-bits=512 byte-tables=true})" | FileCheck %s --check-prefix=REGISTERS
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=icelake-server},func.func(graph-assign-layout,graph-fuse-host),canonicalize,lower-host-kernels)" | FileCheck %s --check-prefix=REGISTERS

// With AVX512-VBMI the table lies in four registers, two of which bytes are taken from at once.
// REGISTERS-LABEL: func.func @product
// REGISTERS: func.func private @k_matmul_
// REGISTERS-NOT: vector.gather
// REGISTERS: %[[AT:.*]] = vector.shuffle {{.*}} : vector<16xi8>, vector<16xi8>
// REGISTERS: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"(%{{.*}}, %[[AT]], %{{.*}})
// REGISTERS: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"(%{{.*}}, %[[AT]], %{{.*}})
// REGISTERS: %[[UPPER:.*]] = arith.cmpi slt, %[[AT]], %{{.*}} : vector<64xi8>
// REGISTERS: arith.select %[[UPPER]], %[[HIGH]], %[[LOW]]
// REGISTERS-NOT: vector.gather

// The lanes of a vector look up their elements at once: with AVX-512 those of a word, of which each takes its byte.
// CHECK-LABEL: func.func @product
// CHECK: tir.call_extern @[[K:k_matmul_[0-9a-f]*]]
// CHECK: func.func private @[[K]](
// CHECK-SAME: %[[T:[a-z0-9]+]]: memref<256xi8>
// WORDS: %[[W:.*]] = memref.view %[[T]][%{{.*}}][] : memref<256xi8> to memref<64xi32>
// WORDS: %[[AT:.*]] = arith.shrui %[[I:[a-z0-9_]*]], %{{.*}} : vector<16xi32>
// WORDS: %[[G:.*]] = vector.gather %[[W]][%{{.*}}] [%[[AT]]], {{.*}} : memref<64xi32>
// WORDS: %[[B:.*]] = arith.andi %[[I]], %{{.*}} : vector<16xi32>
// WORDS: %[[S:.*]] = arith.shli %[[B]], %{{.*}} : vector<16xi32>
// WORDS: %[[Y:.*]] = arith.shrui %[[G]], %[[S]] : vector<16xi32>
// WORDS: arith.trunci %[[Y]] : vector<16xi32> to vector<16xi8>
// BYTES-NOT: memref.view
// BYTES: vector.gather %[[T]][%{{.*}}] [%{{.*}}], {{.*}} : memref<256xi8>, vector<8xi32>
func.func @product(%x: tensor<64x100xui8>) -> tensor<64x64xui8> {
  %t = graph.constant dense<"0x00070E151C232A31383F464D545B626970777E858C939AA1A8AFB6BDC4CBD2D9E0E7EEF5FC030A11181F262D343B424950575E656C737A81888F969DA4ABB2B9C0C7CED5DCE3EAF1F8FF060D141B222930373E454C535A61686F767D848B9299A0A7AEB5BCC3CAD1D8DFE6EDF4FB020910171E252C333A41484F565D646B727980878E959CA3AAB1B8BFC6CDD4DBE2E9F0F7FE050C131A21282F363D444B525960676E757C838A91989FA6ADB4BBC2C9D0D7DEE5ECF3FA01080F161D242B323940474E555C636A71787F868D949BA2A9B0B7BEC5CCD3DAE1E8EFF6FD040B121920272E353C434A51585F666D747B828990979EA5ACB3BAC1C8CFD6DDE4EBF2F9"> : tensor<256xui8>
  %w = graph.constant dense<3> : tensor<100x64xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.matmul_integer %x, %w : (tensor<64x100xui8>, tensor<100x64xi8>) -> tensor<64x64xi32>
  %1 = graph.dequantize_linear %0, %s : (tensor<64x64xi32>, tensor<f32>) -> tensor<64x64xf32>
  %2 = graph.quantize_linear %1, %s to = ui8 : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xui8>
  %3 = graph.lookup %2, %t : (tensor<64x64xui8>, tensor<256xui8>) -> tensor<64x64xui8>
  return %3 : tensor<64x64xui8>
}
