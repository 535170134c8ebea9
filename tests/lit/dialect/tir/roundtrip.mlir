// RUN: phaseline-opt %s --verify-roundtrip | FileCheck %s
// RUN: phaseline-opt %s --mlir-print-op-generic | phaseline-opt | FileCheck %s

// CHECK: module attributes {tir.pools = [#tir.pool<"scratchpad", 65536, 64>, #tir.pool<"weights", 1024, 16>]}
module attributes {tir.pools = [#tir.pool<"scratchpad", 65536, 64>,
                                #tir.pool<"weights", 1024, 16>]} {

// CHECK-LABEL: func.func @on_tensors
func.func @on_tensors(%a: tensor<8xf32>, %b: tensor<8xf32>, %n: i32) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  // CHECK: tir.call_extern @npu_add(%{{.*}} : i32) ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>)
  // CHECK-SAME: outs(%{{.*}} : tensor<8xf32>)
  // CHECK-SAME: args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>, #tir.arg<scalars 0>]
  // CHECK-SAME: {header = "npu.h", returns_status, with_device} -> tensor<8xf32>
  %r = tir.call_extern @npu_add(%n : i32)
      ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%init : tensor<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>, #tir.arg<scalars 0>]
      {header = "npu.h", returns_status, with_device} -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @on_memrefs
func.func @on_memrefs(%a: memref<8xf32, #tir.space<"scratchpad">>, %b: memref<2x4xf32>, %k: index) {
  // CHECK: tir.call_extern @npu_conv(%{{.*}} : index)
  // CHECK-SAME: args [#tir.struct<"npu_conv_params", {act = #tir.name<"NPU_RELU">, pads = [1 : i32, 0 : i32], size = #tir.arg<scalars 0>, strides = array<i64: 1, 2>}>,
  // CHECK-SAME: #tir.arg<ins 0, offset>, #tir.arg<outs 0>, #tir.arg<scratch 0>, 3 : i32, 5.000000e-01 : f32, #tir.name<"NPU_WAIT">]
  // CHECK-SAME: {accumulate, prototype = "void npu_conv(const npu_conv_params *, uint32_t, float *, void *, int, float, int);", scratch_bytes = 128 : i64}
  tir.call_extern @npu_conv(%k : index)
      ins(%a : memref<8xf32, #tir.space<"scratchpad">>) outs(%b : memref<2x4xf32>)
      args [#tir.struct<"npu_conv_params", {pads = [1 : i32, 0 : i32], strides = array<i64: 1, 2>,
                                            act = #tir.name<"NPU_RELU">, size = #tir.arg<scalars 0>}>,
            #tir.arg<ins 0, offset>, #tir.arg<outs 0>, #tir.arg<scratch 0>, 3 : i32, 0.5 : f32,
            #tir.name<"NPU_WAIT">]
      {scratch_bytes = 128, accumulate,
       prototype = "void npu_conv(const npu_conv_params *, uint32_t, float *, void *, int, float, int);"}
  // CHECK: tir.call_extern @npu_barrier args []
  tir.call_extern @npu_barrier args []
  return
}

// CHECK-LABEL: func.func @strides
func.func @strides(%a: tensor<8x4xf32>) {
  // CHECK: args [#tir.arg<ins 0>, #tir.stride<ins 0, 1, i64>, #tir.struct<"s", {step = #tir.stride<ins 0, 0, i32>}>]
  tir.call_extern @f ins(%a : tensor<8x4xf32>)
      args [#tir.arg<ins 0>, #tir.stride<ins 0, 1, i64>, #tir.struct<"s", {step = #tir.stride<ins 0, 0, i32>}>]
  return
}

// CHECK-LABEL: func.func @unit_dimensions
func.func @unit_dimensions(%a: memref<1x4x1xf32, strided<[999, 1, 77], offset: ?>>,
                           %b: memref<?x4xf32, strided<[4, 1], offset: ?>>) {
  // CHECK: tir.call_extern @f ins
  tir.call_extern @f ins(%a : memref<1x4x1xf32, strided<[999, 1, 77], offset: ?>>)
      outs(%b : memref<?x4xf32, strided<[4, 1], offset: ?>>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  // CHECK: tir.call_extern @g ins
  // CHECK-SAME: {strided}
  tir.call_extern @g ins(%a : memref<1x4x1xf32, strided<[999, 1, 77], offset: ?>>)
      args [#tir.arg<ins 0>, 77 : i64] {strided}
  return
}

// CHECK-LABEL: func.func @transfers
func.func @transfers(%host: memref<4x4x16xf32, strided<[?, 64, 1], offset: ?>>,
                     %tile: memref<?x16xf32, strided<[64, 1], offset: ?>>, %c: index) {
  // CHECK: tir.buffer at 4096 : memref<4x16xf32, #tir.space<"scratchpad">>
  %spad = tir.buffer at 4096 : memref<4x16xf32, #tir.space<"scratchpad">>
  // CHECK: %[[T:.*]] = tir.dma_start %{{.*}} to %{{.*}} channel(0) : memref<?x16xf32, strided<[64, 1], offset: ?>> to memref<4x16xf32, #tir.space<"scratchpad">>
  %t = tir.dma_start %tile to %spad channel(0)
      : memref<?x16xf32, strided<[64, 1], offset: ?>> to memref<4x16xf32, #tir.space<"scratchpad">>
  // CHECK: tir.dma_wait %[[T]]
  tir.dma_wait %t
  // CHECK: tir.dma_copy %{{.*}} to %{{.*}} channel(%{{.*}}) : memref<4x16xf32, #tir.space<"scratchpad">> to memref<?x16xf32, strided<[64, 1], offset: ?>>
  tir.dma_copy %spad to %tile channel(%c)
      : memref<4x16xf32, #tir.space<"scratchpad">> to memref<?x16xf32, strided<[64, 1], offset: ?>>
  return
}

// CHECK-LABEL: func.func @converted
func.func @converted(%sums: memref<4x16xi32, #tir.space<"scratchpad">>, %y: memref<4x16xi8>, %s: memref<16xf32>) {
  // CHECK: tir.dma_start %{{.*}} to %{{.*}} channel(1) with(%{{.*}} : memref<16xf32>) given {scales = #tir.arg<ins 0>, zero = -3 : i64} : memref<4x16xi32, #tir.space<"scratchpad">> to memref<4x16xi8>
  %t = tir.dma_start %sums to %y channel(1) with(%s : memref<16xf32>) given {scales = #tir.arg<ins 0>, zero = -3}
      : memref<4x16xi32, #tir.space<"scratchpad">> to memref<4x16xi8>
  tir.dma_wait %t
  return
}

// CHECK-LABEL: func.func @token_through_loop
func.func @token_through_loop(%src: memref<2x64xf32>, %first: !tir.token, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %spad = tir.buffer at 0 : memref<2x64xf32, #tir.space<"scratchpad">>
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (!tir.token)
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (!tir.token) {
    tir.dma_wait %t
    %next = tir.dma_start %src to %spad channel(%i)
        : memref<2x64xf32> to memref<2x64xf32, #tir.space<"scratchpad">>
    scf.yield %next : !tir.token
  }
  tir.dma_wait %last
  return
}
}

// CHECK-LABEL: func.func @tickets
func.func @tickets(%t: memref<4xi64>, %x: memref<8xf32>) {
  // CHECK: tir.submit @submit queue 1 to %{{.*}}[3] : memref<4xi64>
  tir.submit @submit queue 1 to %t[3] : memref<4xi64>
  // CHECK: tir.wait @after queue 0 for %{{.*}}[3] : memref<4xi64>
  tir.wait @after queue 0 for %t[3] : memref<4xi64>
  // CHECK: tir.wait @wait for %{{.*}}[3] : memref<4xi64> keeps(%{{.*}} : memref<8xf32>)
  tir.wait @wait for %t[3] : memref<4xi64> keeps(%x : memref<8xf32>)
  return
}
