// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=512})" | FileCheck %s

// Products of few rows read weights as they are stored. Numbers of four bits share a byte, two rows of the matrix each;
// factors are multiplied in where they change, here every 32 rows.
// CHECK-LABEL: func.func @four_bits
// CHECK-DAG: graph.constant dense_resource<{{.*}}> : tensor<8192xi8>
// CHECK-DAG: graph.constant dense_resource<{{.*}}> : tensor<512xf32>
// CHECK-NOT: graph.dequantize_linear
// CHECK: tir.call_extern @[[K:k_matmul_[0-9a-f]*]]
func.func @four_bits(%x: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %q = graph.constant dense<11> : tensor<128x128xui8>
  %s = graph.constant dense<0.5> : tensor<4x128xf32>
  %z = graph.constant dense<8> : tensor<4x128xui8>
  %w = graph.dequantize_linear %q, %s, %z axis = 0 block_size = 32 : (tensor<128x128xui8>, tensor<4x128xf32>, tensor<4x128xui8>) -> tensor<128x128xf32>
  %y = graph.matmul %x, %w : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32>
  return %y : tensor<1x128xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK-DAG: graph.constant dense_resource<{{.*}}> : tensor<16384xi8>
// CHECK-DAG: graph.constant dense_resource<{{.*}}> : tensor<128xf32>
// CHECK-NOT: graph.dequantize_linear
func.func @columns(%x: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %q = graph.constant dense<100> : tensor<128x128xi8>
  %s = graph.constant dense<0.5> : tensor<128xf32>
  %w = graph.dequantize_linear %q, %s axis = 1 : (tensor<128x128xi8>, tensor<128xf32>) -> tensor<128x128xf32>
  %y = graph.matmul %x, %w : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32>
  return %y : tensor<1x128xf32>
}

// Many rows, and factors for rows.
// CHECK-LABEL: func.func @many
// CHECK: graph.dequantize_linear
func.func @many(%x: tensor<16x128xf32>) -> tensor<16x128xf32> {
  %q = graph.constant dense<100> : tensor<128x128xi8>
  %s = graph.constant dense<0.5> : tensor<128xf32>
  %w = graph.dequantize_linear %q, %s axis = 1 : (tensor<128x128xi8>, tensor<128xf32>) -> tensor<128x128xf32>
  %y = graph.matmul %x, %w : (tensor<16x128xf32>, tensor<128x128xf32>) -> tensor<16x128xf32>
  return %y : tensor<16x128xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: graph.dequantize_linear
func.func @rows(%x: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %q = graph.constant dense<100> : tensor<128x128xi8>
  %s = graph.constant dense<0.5> : tensor<128xf32>
  %w = graph.dequantize_linear %q, %s axis = 0 : (tensor<128x128xi8>, tensor<128xf32>) -> tensor<128x128xf32>
  %y = graph.matmul %x, %w : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32>
  return %y : tensor<1x128xf32>
}

// CHECK: func.func private @[[K]](%{{.*}}: memref<1x128xf32>, %[[W:.*]]: memref<8192xi8>, %[[S:.*]]: memref<512xf32>, %{{.*}}: memref<1x128xf32>
// CHECK: arith.divui
// CHECK: vector.load %[[S]]
// CHECK: vector.load %[[W]]
// CHECK: arith.shli
// CHECK: arith.shrsi
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: vector.fma
