// RUN: phaseline compile %s -t c --name net --from=codegen --emit=c > %t.c
// RUN: FileCheck %s < %t.c
// RUN: cc -std=c99 -Wall -Wextra -Wmissing-prototypes -Werror -fsyntax-only %t.c

// The main function of a host becomes the entry point; what stands before it is what it needs.

module attributes {phl.model = "net", phl.devices = ["npu"],
                   phl.constants = dense<0> : tensor<128xi8>} {
  memref.global "private" constant @__constant_3xf32 : memref<3xf32> = dense<[1.0, -0.5, 0x7F800000]>
  memref.global "private" constant @unused : memref<1xf32> = dense<1.0>

// CHECK: #include <math.h>
// CHECK: #include <stdint.h>
// CHECK: int32_t net_npu_0(void *, const void *, void *);
// CHECK: static const float constant_3xf32[3] = {1.0f, -0.5f, INFINITY};
// CHECK-NOT: unused
// CHECK: static inline float f16_to_f32(uint16_t h) {
// CHECK: static inline uint16_t f64_to_f16(double x) {

// CHECK: static int32_t net_twice(void *const *devices, const float *in0, float *out0) {
// CHECK-NEXT: (void)devices;
// CHECK-NEXT: for (ptrdiff_t i = 0; i < 3; ++i) {
// CHECK-NEXT: const float x0 = in0[i];
// CHECK-NEXT: out0[i] = x0 + x0;

// CHECK: int32_t net_invoke(const void *const *inputs, void *const *outputs, const void *constants,
// CHECK-NEXT: void *arena, void *const *devices, void *pool);
// CHECK: int32_t net_invoke(const void *const *inputs, void *const *outputs, const void *constants,
// CHECK-NEXT: void *arena, void *const *devices, void *pool) {
// CHECK-NEXT: const float *const in0 = inputs[0];
// CHECK-NEXT: const uint16_t *const in1 = inputs[1];
// CHECK-NEXT: float *const out0 = outputs[0];
// CHECK-NEXT: uint16_t *const out1 = outputs[1];
// CHECK-NEXT: const int8_t *const weights = constants;
// CHECK-NEXT: int8_t *const memory = arena;
// CHECK-NEXT: (void)pool;
// CHECK-NEXT: int32_t status = 0;
// CHECK-NEXT: float *const t1 = (float *)(void *)memory;
// CHECK-NEXT: if ((status = net_npu_0(devices[0], in0, t1)) != 0) return status;
// CHECK-NEXT: if ((status = net_twice(devices, t1, out0)) != 0) return status;

  func.func @net_main(%x: memref<3xf32> {phl.io = "input"}, %h: memref<2xf16> {phl.io = "input"},
                      %y: memref<3xf32> {phl.io = "output"}, %g: memref<2xf16> {phl.io = "output"},
                      %w: memref<128xi8> {phl.io = "constants"}, %arena: memref<64xi8> {phl.io = "arena"})
      attributes {phl.arena_bytes = 64 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %weights = memref.view %w[%c64][] : memref<128xi8> to memref<3xf32>
    %t = memref.view %arena[%c0][] : memref<64xi8> to memref<3xf32>
    tir.call_extern @net_npu_0 ins(%x : memref<3xf32>) outs(%t : memref<3xf32>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device, returns_status, phl.device = "npu"}
    tir.call_extern @net_twice ins(%t : memref<3xf32>) outs(%y : memref<3xf32>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>]

// A value that a loop carries is a variable.
// CHECK-NEXT: const float *const t0 = (const float *)(const void *)(weights + 64);
// CHECK-NEXT: float s0 = 0.0f;
// CHECK-NEXT: for (ptrdiff_t i = 0; i < 3; ++i) {
// CHECK-NEXT: const float x0 = out0[i];
// CHECK-NEXT: const float x1 = t0[i];
// CHECK-NEXT: const float x2 = constant_3xf32[i];
// CHECK-NEXT: s0 = s0 + expf(x0 * x1) * x2;
// CHECK-NEXT: }
    %c = memref.get_global @__constant_3xf32 : memref<3xf32>
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> f32 {
      %a = memref.load %y[%i] : memref<3xf32>
      %b = memref.load %weights[%i] : memref<3xf32>
      %d = memref.load %c[%i] : memref<3xf32>
      %p = arith.mulf %a, %b : f32
      %e = math.exp %p : f32
      %q = arith.mulf %e, %d : f32
      %r = arith.addf %s, %q : f32
      scf.yield %r : f32
    }

// CHECK-NEXT: float r0;
// CHECK-NEXT: if (s0 > 0.0f) {
// CHECK-NEXT: r0 = sqrtf(s0);
// CHECK-NEXT: } else {
// CHECK-NEXT: r0 = -s0;
// CHECK-NEXT: }
// CHECK-NEXT: out0[2] = r0;
    %positive = arith.cmpf ogt, %sum, %zero : f32
    %size = scf.if %positive -> f32 {
      %r = math.sqrt %sum : f32
      scf.yield %r : f32
    } else {
      %n = arith.negf %sum : f32
      scf.yield %n : f32
    }
    memref.store %size, %y[%c2] : memref<3xf32>

// A loop that is left in the middle.
// CHECK-NEXT: float s1 = r0;
// CHECK-NEXT: float s2 = s0;
// CHECK-NEXT: float r1;
// CHECK-NEXT: float r2;
// CHECK-NEXT: for (;;) {
// CHECK-NEXT: r1 = s1;
// CHECK-NEXT: r2 = s2;
// CHECK-NEXT: if (!(s1 < s2)) break;
// CHECK-NEXT: s1 = r2;
// CHECK-NEXT: s2 = r1 + 1.0f;
// CHECK-NEXT: }
// CHECK-NEXT: out0[0] = r1;
    %one = arith.constant 1.0 : f32
    %last:2 = scf.while (%u = %size, %v = %sum) : (f32, f32) -> (f32, f32) {
      %less = arith.cmpf olt, %u, %v : f32
      scf.condition(%less) %u, %v : f32, f32
    } do {
    ^bb0(%u: f32, %v: f32):
      %n = arith.addf %u, %one : f32
      scf.yield %v, %n : f32, f32
    }
    memref.store %last#0, %y[%c0] : memref<3xf32>

// Loop-carried values are exchanged at once.
// CHECK-NEXT: float s3 = r1;
// CHECK-NEXT: float s4 = r2;
// CHECK-NEXT: for (ptrdiff_t
// CHECK-NEXT: const float [[OLD:x[0-9]+]] = s4;
// CHECK-NEXT: const float [[NEW:x[0-9]+]] = s3 + s4;
// CHECK-NEXT: s3 = [[OLD]];
// CHECK-NEXT: s4 = [[NEW]];
// CHECK-NEXT: }
// CHECK-NEXT: out0[1] = s3;
    %swapped:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%u = %last#0, %v = %last#1) -> (f32, f32) {
      %n = arith.addf %u, %v : f32
      scf.yield %v, %n : f32, f32
    }
    memref.store %swapped#0, %y[%c1] : memref<3xf32>

// CHECK-NEXT: const uint16_t [[H:x[0-9]+]] = in1[1];
// CHECK-NEXT: out1[0] = f64_to_f16(f16_to_f32([[H]]) * 2.0f);
    %two = arith.constant 2.0 : f32
    %l = memref.load %h[%c1] : memref<2xf16>
    %f = arith.extf %l : f16 to f32
    %m = arith.mulf %f, %two : f32
    %o = arith.truncf %m : f32 to f16
    memref.store %o, %g[%c0] : memref<2xf16>
// CHECK-NEXT: return 0;
    return
  }

  func.func @net_twice(%x: memref<3xf32> {phl.io = "input"}, %y: memref<3xf32> {phl.io = "output"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %c3 step %c1 {
      %a = memref.load %x[%i] : memref<3xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %y[%i] : memref<3xf32>
    }
    return
  }
}
