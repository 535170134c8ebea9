// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-tir-to-emitc{device=npu_device})' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-tir-to-emitc{device=npu_device})' | mlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=C

// CHECK: emitc.include <"stdint.h">
// CHECK: emitc.include "npu.h"
// CHECK: emitc.func @model_npu_0(
// CHECK-SAME: !emitc.ptr<!emitc.opaque<"void">>
// CHECK-SAME: !emitc.ptr<!emitc.opaque<"const float">>

// C: #include "npu.h"
// C: int32_t model_npu_0(void* [[DEVICE:v[0-9]+]], const float* [[IN:v[0-9]+]], float* [[OUT:v[0-9]+]], int8_t* [[ARENA:v[0-9]+]]) {
// C-NEXT: npu_device *const device = [[DEVICE]];
// C-NEXT: const float *const in0 = [[IN]];
// C-NEXT: float *const out0 = [[OUT]];
// C-NEXT: int8_t *const arena = [[ARENA]];
// C-NEXT: int32_t status = 0;
// C-NEXT: float *const t0 = (float *)(arena + 64);
// C-NEXT: /* first node */
// C-NEXT: for (ptrdiff_t [[I:[a-z0-9]+]] = 0; [[I]] < 4; [[I]] += 1) {
// C-NEXT: status = npu_load(device, (uint32_t)(([[I]] % 2) * 32 + 128), in0 + [[I]] * 8, &(npu_shape){.count = {1, 8}, .mode = NPU_FAST}, 3);
// C-NEXT: if (status != 0) return status;
// C-NEXT: npu_note(t0, 0.5);
// C-NEXT: }
// C-NEXT: memcpy(out0, t0, 32);
// C-NEXT: return 0;
func.func @model_npu_0(%a: memref<4x8xf32> {phl.io = "input"}, %y: memref<8xf32> {phl.io = "output"},
                       %arena: memref<128xi8> {phl.io = "arena"}) {
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
