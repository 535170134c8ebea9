// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=256})" --split-input-file | FileCheck %s

// One call, with working memory for a block of rows of each task instead of all scores.
// CHECK-LABEL: func.func @long
// CHECK-NOT: tensor<8x4096x4096xf32>
// CHECK: tir.call_extern @[[K:k_attention_[0-9a-f]+]](%{{.*}}, %{{.*}} : index, index)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<8x4096x64xf32>, tensor<32x{{[0-9]+}}x4112xf32>)
// CHECK: func.func private @[[K]]
// CHECK: vector.fma
// CHECK: arith.bitcast {{.*}} : vector<8xi32> to vector<8xf32>
// CHECK: arith.divf
// CHECK: vector.fma
func.func @long(%q: tensor<8x4096x64xf32>, %k: tensor<8x64x4096xf32>, %v: tensor<8x4096x64xf32>) -> tensor<8x4096x64xf32> {
  %0 = graph.matmul %q, %k : (tensor<8x4096x64xf32>, tensor<8x64x4096xf32>) -> tensor<8x4096x4096xf32>
  %1 = graph.softmax %0 axis = 2 : tensor<8x4096x4096xf32>
  %2 = graph.matmul %1, %v : (tensor<8x4096x4096xf32>, tensor<8x4096x64xf32>) -> tensor<8x4096x64xf32>
  return %2 : tensor<8x4096x64xf32>
}

// -----

// Truth values are bytes. Lanes behind a row are minus infinity.
// CHECK-LABEL: func.func @masked
// CHECK: tir.call_extern @[[K:k_attention_[0-9a-f]+]](
// CHECK: func.func private @[[K]](%{{.*}}: memref<8x16x16xf32>, %{{.*}}: memref<8x16x20xf32>, %{{.*}}: memref<16x20xi8>,
// CHECK: arith.cmpi ne
// CHECK: arith.select
// CHECK: vector.maskedload {{.*}} : memref<{{.*}}xf32>
// CHECK: arith.cmpf ogt
func.func @masked(%q: tensor<8x16x16xf32>, %k: tensor<8x16x20xf32>, %v: tensor<8x20x16xf32>, %mask: tensor<16x20xi1>) -> tensor<8x16x16xf32> {
  %least = graph.constant dense<-1.0e9> : tensor<f32>
  %0 = graph.matmul %q, %k : (tensor<8x16x16xf32>, tensor<8x16x20xf32>) -> tensor<8x16x20xf32>
  %1 = graph.where %mask, %0, %least : (tensor<16x20xi1>, tensor<8x16x20xf32>, tensor<f32>) -> tensor<8x16x20xf32>
  %2 = graph.softmax %1 axis = 2 : tensor<8x16x20xf32>
  %3 = graph.matmul %2, %v : (tensor<8x16x20xf32>, tensor<8x20x16xf32>) -> tensor<8x16x16xf32>
  return %3 : tensor<8x16x16xf32>
}

// -----

// Scores, weights and results may be rounded to bytes; the results are stored so.
// CHECK-LABEL: func.func @quantized
// CHECK-NOT: graph.softmax
// CHECK: tir.call_extern @[[K:k_attention_[0-9a-f]+]]({{.*}} outs(%{{.*}}, %{{.*}} : tensor<8x16x16xi8>,
// CHECK: func.func private @[[K]]
// CHECK: vector.store {{.*}}, vector<8xi8>
func.func @quantized(%q: tensor<8x16x16xf32>, %k: tensor<8x16x20xf32>, %v: tensor<8x20x16xf32>) -> tensor<8x16x16xi8> {
  %s = graph.constant dense<0.05> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.matmul %q, %k : (tensor<8x16x16xf32>, tensor<8x16x20xf32>) -> tensor<8x16x20xf32>
  %1 = graph.quantize_linear %0, %s, %z : (tensor<8x16x20xf32>, tensor<f32>, tensor<i8>) -> tensor<8x16x20xi8>
  %2 = graph.dequantize_linear %1, %s, %z : (tensor<8x16x20xi8>, tensor<f32>, tensor<i8>) -> tensor<8x16x20xf32>
  %3 = graph.softmax %2 axis = 2 : tensor<8x16x20xf32>
  %4 = graph.matmul %3, %v : (tensor<8x16x20xf32>, tensor<8x20x16xf32>) -> tensor<8x16x16xf32>
  %5 = graph.quantize_linear %4, %s, %z : (tensor<8x16x16xf32>, tensor<f32>, tensor<i8>) -> tensor<8x16x16xi8>
  return %5 : tensor<8x16x16xi8>
}
