// Functions of f32 become arithmetic without a branch, a call or a conversion to an integer, which
// would be undefined for NaN. Smaller floats are computed in f32, vectors as scalars are.

// RUN: phaseline-opt %s --expand-math-approximations | FileCheck %s --implicit-check-not=fptosi --implicit-check-not=scf. --implicit-check-not='{{math\.(sin|exp|log|tanh|erf)}}'

// CHECK-LABEL: func.func @scalar(
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.muli %{{.*}} : i64
func.func @scalar(%x: f32) -> (f32, f32, f32, f32) {
  %0 = math.sin %x : f32
  %1 = math.exp %x : f32
  %2 = math.log %x : f32
  %3 = math.erf %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @vector(
// CHECK: arith.divf %{{.*}} : vector<2x8xf32>
func.func @vector(%x: vector<2x8xf32>) -> vector<2x8xf32> {
  %0 = math.tanh %x : vector<2x8xf32>
  return %0 : vector<2x8xf32>
}

// CHECK-LABEL: func.func @half(
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @half(%x: f16) -> f16 {
  %0 = math.exp %x : f16
  return %0 : f16
}

// The exponential and the hyperbolic tangent of doubles, on words of 64 bits.
// CHECK-LABEL: func.func @double(
// CHECK: arith.bitcast %{{.*}} : vector<4xf64> to vector<4xi64>
// CHECK: arith.divf %{{.*}} : vector<4xf64>
// CHECK: math.copysign
func.func @double(%x: vector<4xf64>) -> (vector<4xf64>, vector<4xf64>) {
  %0 = math.exp %x : vector<4xf64>
  %1 = math.tanh %x : vector<4xf64>
  return %0, %1 : vector<4xf64>, vector<4xf64>
}

// Remainders need 64-bit arithmetic for it, which not each machine has.
// RUN: phaseline-opt %s --expand-math-approximations=remainders=true | FileCheck %s --check-prefix=REMAINDERS

// CHECK-LABEL: func.func @remainder(
// CHECK: arith.remf
// REMAINDERS-LABEL: func.func @remainder(
// REMAINDERS-NOT: arith.remf %{{.*}} : vector<4xf32>
// REMAINDERS: arith.divf %{{.*}} : vector<4xf64>
// REMAINDERS: math.copysign %{{.*}} : vector<4xf64>
// REMAINDERS: arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
// REMAINDERS: arith.remf %{{.*}} : f64
func.func @remainder(%x: vector<4xf32>, %y: vector<4xf32>, %z: f64) -> (vector<4xf32>, f64) {
  %0 = arith.remf %x, %y : vector<4xf32>
  %1 = arith.remf %z, %z : f64
  return %0, %1 : vector<4xf32>, f64
}
