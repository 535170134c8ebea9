// RUN: phaseline-opt %s --pass-pipeline="builtin.module(expand-half-conversions{always=true})" | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(set-llvm-target{mtriple=x86_64-linux-gnu mcpu=x86-64},expand-half-conversions)" | FileCheck %s

// The significand moves under the exponent of f32, of which infinity and NaN have the greatest.
// CHECK-LABEL: func.func @widen
// CHECK-NOT: arith.extf
// CHECK: %[[SHORT:.*]] = arith.bitcast %arg0 : f16 to i16
// CHECK: arith.extui %[[SHORT]] : i16 to i32
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.cmpi uge
// CHECK: arith.select
// CHECK: return %{{.*}} : f32
func.func @widen(%x: f16) -> f32 {
  %y = arith.extf %x : f16 to f32
  return %y : f32
}

// Vectors stay vectors.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: arith.truncf
// CHECK: arith.bitcast %arg0 : vector<4xf32> to vector<4xi32>
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: arith.trunci {{.*}} : vector<4xi32> to vector<4xi16>
// CHECK: arith.bitcast {{.*}} : vector<4xi16> to vector<4xf16>
func.func @narrow(%x: vector<4xf32>) -> vector<4xf16> {
  %y = arith.truncf %x : vector<4xf32> to vector<4xf16>
  return %y : vector<4xf16>
}
