// RUN: phaseline compile %s --from=codegen --emit=c > %t.c
// RUN: FileCheck %s < %t.c
// RUN: cc -std=c99 -Wall -Wextra -Werror -fsyntax-only %t.c

// C leaves overflow of signed integers undefined and widens small ones; MLIR does neither.

// CHECK-LABEL: int32_t wrap(
// CHECK: out0[0] = (int32_t)((uint32_t)x0 + (uint32_t)x1 * 3u);
// CHECK: const int32_t x2 = ((int32_t)((uint32_t)x0 / (uint32_t)x1) < x1) ? x0 : x1;
// CHECK-NEXT: out0[1] = x2;
func.func @wrap(%a: memref<2xi32> {phl.io = "input"}, %y: memref<2xi32> {phl.io = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %three = arith.constant 3 : i32
  %x = memref.load %a[%c0] : memref<2xi32>
  %z = memref.load %a[%c1] : memref<2xi32>
  %p = arith.muli %z, %three : i32
  %s = arith.addi %x, %p : i32
  memref.store %s, %y[%c0] : memref<2xi32>
  %d = arith.divui %x, %z : i32
  %less = arith.cmpi slt, %d, %z : i32
  %m = arith.select %less, %x, %z : i32
  memref.store %m, %y[%c1] : memref<2xi32>
  return
}

// CHECK-LABEL: int32_t small(
// CHECK: out0[0] = (int8_t)(x0 + x1);
// CHECK: out0[1] = (int8_t)((uint8_t)x0 / (uint8_t)x1);
// CHECK: out0[2] = (int8_t)((uint32_t)x0 << (x1 & 7));
// CHECK: out0[3] = (int8_t)((uint8_t)x0 < (uint8_t)x1);
func.func @small(%a: memref<2xi8> {phl.io = "input"}, %y: memref<4xi8> {phl.io = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = memref.load %a[%c0] : memref<2xi8>
  %z = memref.load %a[%c1] : memref<2xi8>
  %s = arith.addi %x, %z : i8
  memref.store %s, %y[%c0] : memref<4xi8>
  %d = arith.divui %x, %z : i8
  memref.store %d, %y[%c1] : memref<4xi8>
  %l = arith.shli %x, %z : i8
  memref.store %l, %y[%c2] : memref<4xi8>
  %less = arith.cmpi ult, %x, %z : i8
  %e = arith.extui %less : i1 to i8
  memref.store %e, %y[%c3] : memref<4xi8>
  return
}

// Indices are ptrdiff_t; one that is no sum and is used twice has a name.
// CHECK-LABEL: int32_t gather(
// CHECK: const int64_t x0 = in0[0];
// CHECK-NEXT: const ptrdiff_t x1 = (ptrdiff_t)x0;
// CHECK-NEXT: const ptrdiff_t x2 = (x1 < 0) ? x1 + 4 : x1;
// CHECK-NEXT: const float x3 = in1[x2 * 2 + 1];
// CHECK-NEXT: out0[(x2 % 2)] = x3 + (float)(int64_t)(x2 + 7);
func.func @gather(%i: memref<1xi64> {phl.io = "input"}, %a: memref<4x2xf32> {phl.io = "input"},
                  %y: memref<2xf32> {phl.io = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %n = memref.load %i[%c0] : memref<1xi64>
  %k = arith.index_cast %n : i64 to index
  %negative = arith.cmpi slt, %k, %c0 : index
  %up = arith.addi %k, %c4 : index
  %at = arith.select %negative, %up, %k : index
  %x = memref.load %a[%at, %c1] : memref<4x2xf32>
  %half = arith.remui %at, %c2 : index
  %far = arith.addi %at, %c7 : index
  %long = arith.index_cast %far : index to i64
  %f = arith.sitofp %long : i64 to f32
  %s = arith.addf %x, %f : f32
  memref.store %s, %y[%half] : memref<2xf32>
  return
}

// Casts between integers and floats of 16 bits are of numbers, not of their bits.
// CHECK-LABEL: int32_t halves(
// CHECK: out0[0] = f64_to_f16((float)x0);
// CHECK: out0[1] = f64_to_f16((float)(uint32_t)x0);
// CHECK: out1[0] = f32_to_bf16((float)x1);
// CHECK: out1[1] = f32_to_bf16(-(float)x2);
// CHECK: out2[0] = (int32_t)f16_to_f32(x3);
// CHECK: out2[1] = (int32_t)(int64_t)bf16_to_f32(x4);
// CHECK: out3[0] = (int32_t)f16_to_f32(x3) != 0;
func.func @halves(%a: memref<1xi32> {phl.io = "input"}, %b: memref<1xi16> {phl.io = "input"},
                  %c: memref<1xi1> {phl.io = "input"}, %h: memref<1xf16> {phl.io = "input"},
                  %k: memref<1xbf16> {phl.io = "input"}, %y: memref<2xf16> {phl.io = "output"},
                  %z: memref<2xbf16> {phl.io = "output"}, %w: memref<2xi32> {phl.io = "output"},
                  %v: memref<1xi1> {phl.io = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.load %a[%c0] : memref<1xi32>
  %1 = arith.sitofp %0 : i32 to f16
  memref.store %1, %y[%c0] : memref<2xf16>
  %2 = arith.uitofp %0 : i32 to f16
  memref.store %2, %y[%c1] : memref<2xf16>
  %3 = memref.load %b[%c0] : memref<1xi16>
  %4 = arith.sitofp %3 : i16 to bf16
  memref.store %4, %z[%c0] : memref<2xbf16>
  %5 = memref.load %c[%c0] : memref<1xi1>
  %6 = arith.sitofp %5 : i1 to bf16
  memref.store %6, %z[%c1] : memref<2xbf16>
  %7 = memref.load %h[%c0] : memref<1xf16>
  %8 = arith.fptosi %7 : f16 to i32
  memref.store %8, %w[%c0] : memref<2xi32>
  %9 = memref.load %k[%c0] : memref<1xbf16>
  %10 = arith.fptoui %9 : bf16 to i32
  memref.store %10, %w[%c1] : memref<2xi32>
  %11 = arith.fptosi %7 : f16 to i1
  memref.store %11, %v[%c0] : memref<1xi1>
  return
}
