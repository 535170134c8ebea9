// RUN: phaseline-opt %s -split-input-file --outline-c-calls=headers=core.h:more.h | FileCheck %s

// Names that only C knows are in text: each distinct call once, constants in it, computed values as parameters.
// CHECK: phl.c_glue = "#include {{.*}}#include \22core.h\22\0A#include \22more.h\22
// CHECK-SAME: int32_t phl_call_0(void *device, const int32_t n0, const float *in0, float *out0) {
// CHECK-SAME: static const struct size size_0 = {.depth = 3, .kind = KIND_A};
// CHECK-SAME: if ((status = core_run(device, 3, n0, &size_0,{{.*}}&(struct data){.at = (void *)(in0)},{{.*}}out0)) != 0) return status;
// CHECK-SAME: int32_t phl_call_1(void *device, float *out0) {\0A  (void)device;\0A  core_set(out0, KIND_A);\0A  return 0;
// CHECK-SAME: int32_t phl_call_2(void *device, const ptrdiff_t n0, float *out0) {
// CHECK-SAME: core_rows(&(struct rows){.first = n0, .stride = 4, .to = (void *)(out0)});
// CHECK-NOT: phl_call_3
module attributes {phl.model = "net", phl.target = "core"} {
  // CHECK-LABEL: func.func @net_core_0
  func.func @net_core_0(%x: memref<4xf32>, %y: memref<2x4xf32>, %n: i32, %i: index) {
    %c3 = arith.constant 3 : i32
    %v = memref.subview %y[1, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: 4>>
    // CHECK: tir.call_extern @phl_call_0(%{{.*}} : i32) ins(%{{.*}} : memref<4xf32>) outs(%{{.*}} : memref<4xf32, strided<[1], offset: 4>>) args [#tir.arg<scalars 0>, #tir.arg<ins 0>, #tir.arg<outs 0>] {returns_status, with_device}
    tir.call_extern @core_run(%c3, %n : i32, i32) ins(%x : memref<4xf32>) outs(%v : memref<4xf32, strided<[1], offset: 4>>)
        args [#tir.arg<scalars 0>, #tir.arg<scalars 1>, #tir.struct<"struct size", {depth = 3 : i64, kind = #tir.name<"KIND_A">}>,
              #tir.struct<"struct data", {at = #tir.arg<ins 0>}>, #tir.arg<outs 0>] {returns_status, with_device}
    // CHECK: tir.call_extern @phl_call_1 outs(%{{.*}} : memref<2x4xf32>) args [#tir.name<"NULL">, #tir.arg<outs 0>] {returns_status}
    tir.call_extern @core_set outs(%y : memref<2x4xf32>) args [#tir.arg<outs 0>, #tir.name<"KIND_A">]
    // CHECK: tir.call_extern @phl_call_1 outs(%{{.*}} : memref<4xf32,
    tir.call_extern @core_set outs(%v : memref<4xf32, strided<[1], offset: 4>>) args [#tir.arg<outs 0>, #tir.name<"KIND_A">]
    // CHECK: tir.call_extern @core_plain ins(%{{.*}} : memref<4xf32>) args [7 : i32, #tir.name<"NULL">, #tir.arg<ins 0>]
    tir.call_extern @core_plain ins(%x : memref<4xf32>) args [7 : i32, #tir.name<"NULL">, #tir.arg<ins 0>]
    // Rows with a gap between them: the callee is told the stride.
    // CHECK: tir.call_extern @phl_call_2(%{{.*}} : index) outs(%{{.*}} : memref<2x2xf32, strided<[4, 1]>>) args [#tir.name<"NULL">, #tir.arg<scalars 0>, #tir.arg<outs 0>] {returns_status, strided}
    %r = memref.subview %y[0, 0] [2, 2] [1, 1] : memref<2x4xf32> to memref<2x2xf32, strided<[4, 1]>>
    tir.call_extern @core_rows(%i : index) outs(%r : memref<2x2xf32, strided<[4, 1]>>)
        args [#tir.struct<"struct rows", {to = #tir.arg<outs 0>, stride = 4 : i64, first = #tir.arg<scalars 0>}>] {strided}
    return
  }
}

// -----

// Half floats are integers in C.
// CHECK: int32_t phl_call_0(void *device, const uint16_t n0, const float *in0) {
// CHECK-SAME: core_run(n0, in0, KIND_A);
module attributes {phl.model = "net", phl.target = "core"} {
  // CHECK-LABEL: func.func @net_core_0
  func.func @net_core_0(%x: memref<4xf32>, %half: f16) {
    // CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f16 to i16
    // CHECK: tir.call_extern @phl_call_0(%[[BITS]] : i16) ins(%{{.*}} : memref<4xf32>)
    tir.call_extern @core_run(%half : f16) ins(%x : memref<4xf32>) args [#tir.arg<scalars 0>, #tir.arg<ins 0>, #tir.name<"KIND_A">]
    return
  }
}
