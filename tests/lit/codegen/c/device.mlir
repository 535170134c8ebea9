// RUN: phaseline compile %s --from=codegen --emit=c | FileCheck %s

// A function of a device: what the IR says is what the C does, statement by statement.

// CHECK: #include <stdint.h>
// CHECK: #include "npu.h"
// CHECK: int32_t model_npu_0(void *handle, const float *in0, float *out0, int8_t *arena) {
// CHECK-NEXT: npu_device *const device = handle;
// CHECK-NEXT: int32_t status = 0;
// CHECK-NEXT: /* first node */
// CHECK-NEXT: float *const t0 = (float *)(void *)(arena + 64);
// CHECK-NEXT: for (ptrdiff_t i = 0; i < 4; ++i) {
// CHECK-NEXT: static const npu_shape npu_shape_0 = {.count = {1, 8}, .mode = NPU_FAST};
// CHECK-NEXT: if ((status = npu_load(device, (uint32_t)((i % 2) * 32 + 128), in0 + i * 8, &npu_shape_0,
// CHECK-NEXT: 3)) != 0) return status;
// CHECK-NEXT: npu_note(t0, 0.5);
// CHECK-NEXT: }
// CHECK-NEXT: memcpy(out0, t0, 32);
// CHECK-NEXT: return 0;
module attributes {phl.c_device = "npu_device", tir.pools = [#tir.pool<"scratchpad", 1024, 64>]} {
func.func @model_npu_0(%a: memref<4x8xf32> {phl.io = "input"}, %y: memref<8xf32> {phl.io = "output"},
                       %arena: memref<128xi8> {phl.io = "arena"})
    attributes {phl.arena_bytes = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %x = tir.buffer at 128 : memref<16xf32, #tir.space<"scratchpad">>
  %t = memref.view %arena[%c64][] : memref<128xi8> to memref<8xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %row = memref.subview %a[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %half = arith.remui %i, %c2 : index
    %offset = arith.muli %half, %c8 : index
    %tile = memref.reinterpret_cast %x to offset: [%offset], sizes: [1, 8], strides: [8, 1]
        : memref<16xf32, #tir.space<"scratchpad">> to memref<1x8xf32, strided<[8, 1], offset: ?>, #tir.space<"scratchpad">>
    tir.call_extern @npu_load ins(%row : memref<1x8xf32, strided<[8, 1], offset: ?>>)
        outs(%tile : memref<1x8xf32, strided<[8, 1], offset: ?>, #tir.space<"scratchpad">>)
        args [#tir.arg<outs 0, offset>, #tir.arg<ins 0>,
              #tir.struct<"npu_shape", {count = array<i64: 1, 8>, mode = #tir.name<"NPU_FAST">}>, 3 : i32]
        {header = "npu.h", with_device, returns_status}
    tir.call_extern @npu_note outs(%t : memref<8xf32>) args [#tir.arg<outs 0>, 0.5 : f32]
  } loc("first node")
  memref.copy %t, %y : memref<8xf32> to memref<8xf32>
  return
}
}
