// RUN: phaseline-opt %s --canonicalize --split-input-file | FileCheck %s

// Folds of elementwise ops.

// CHECK-LABEL: func.func @functions
func.func @functions() -> (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i64>) {
  %x = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %a = graph.constant dense<196.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %n = graph.constant dense<3> : tensor<i64>
  // CHECK-DAG: dense<[1.000000e+00, 2.71828175]>
  // CHECK-DAG: dense<[5.000000e-01, 0.731058597]>
  // CHECK-DAG: dense<1.400000e+01>
  // CHECK-DAG: dense<27> : tensor<i64>
  // CHECK-NOT: graph.exp
  %0 = graph.exp %x : tensor<2xf32>
  %1 = graph.sigmoid %x : tensor<2xf32>
  %2 = graph.pow %a, %half : tensor<f32>
  %3 = graph.pow %n, %n : tensor<i64>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i64>
}

// CHECK-LABEL: func.func @identity
func.func @identity(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.identity %x : tensor<?x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @identity_refines
func.func @identity_refines(%x: tensor<?x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.identity %x : (tensor<?x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.identity
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @neg_neg
func.func @neg_neg(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.neg %x : tensor<?x3xf32>
  %1 = graph.neg %0 : tensor<?x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %1 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @not_not
func.func @not_not(%x: tensor<2xi1>) -> tensor<2xi1> {
  %0 = graph.not %x : tensor<2xi1>
  %1 = graph.not %0 : tensor<2xi1>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %1 : tensor<2xi1>
}

// CHECK-LABEL: func.func @relu_relu
func.func @relu_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.relu %x : tensor<2x3xf32>
  %1 = graph.relu %0 : tensor<2x3xf32>
  // CHECK: %[[R:.*]] = graph.relu %arg0
  // CHECK-NEXT: return %[[R]]
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @clip_unbounded
func.func @clip_unbounded(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.clip %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2x3xf32>
}

// A bound that is NaN is no bound.
// CHECK-LABEL: func.func @clip_nan
func.func @clip_nan(%x: tensor<2x3xf32>, %h: tensor<4xf16>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf16>) {
  // CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
  %nan = graph.constant dense<0x7FC00000> : tensor<f32>
  %half = graph.constant dense<0x7E00> : tensor<f16>
  %one = graph.constant dense<1.0> : tensor<f32>
  // CHECK: %[[LOW:.*]] = graph.clip %arg0 min %[[ONE]] :
  %0 = graph.clip %x min %one max %nan : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: %[[HIGH:.*]] = graph.clip %arg0 max %[[ONE]] :
  %1 = graph.clip %x min %nan max %one : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = graph.clip %x min %nan max %nan : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = graph.clip %h min %half : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  // CHECK: return %[[LOW]], %[[HIGH]], %arg0, %arg1 :
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf16>
}

// One value everywhere stays one, however often.
// CHECK-LABEL: func.func @large_splats
func.func @large_splats() -> (tensor<512x512xf32>, tensor<512x512xi32>) {
  %x = graph.constant dense<3.0> : tensor<512x512xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %n = graph.constant dense<7> : tensor<512x512xi32>
  // CHECK-DAG: graph.constant dense<6.000000e+00> : tensor<512x512xf32>
  %0 = graph.mul %x, %two : (tensor<512x512xf32>, tensor<f32>) -> tensor<512x512xf32>
  // CHECK-DAG: graph.constant dense<-7> : tensor<512x512xi32>
  %1 = graph.neg %n : tensor<512x512xi32>
  return %0, %1 : tensor<512x512xf32>, tensor<512x512xi32>
}

// CHECK-LABEL: func.func @cast_same
func.func @cast_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.cast %x : tensor<2x3xf32> to tensor<2x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cast_lossless
func.func @cast_lossless(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = graph.cast %x : tensor<2xi32> to tensor<2xi64>
  %1 = graph.cast %0 : tensor<2xi64> to tensor<2xi32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %1 : tensor<2xi32>
}

// CHECK-LABEL: func.func @cast_skipped
func.func @cast_skipped(%x: tensor<2xf16>) -> tensor<2xf64> {
  %0 = graph.cast %x : tensor<2xf16> to tensor<2xf32>
  %1 = graph.cast %0 : tensor<2xf32> to tensor<2xf64>
  // CHECK-NEXT: graph.cast %arg0 : tensor<2xf16> to tensor<2xf64>
  // CHECK-NEXT: return
  return %1 : tensor<2xf64>
}

// CHECK-LABEL: func.func @cast_lossy
func.func @cast_lossy(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.cast %x : tensor<2xf32> to tensor<2xi32>
  %1 = graph.cast %0 : tensor<2xi32> to tensor<2xf32>
  // CHECK: graph.cast
  // CHECK: graph.cast
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @cast_unsigned_lossy
func.func @cast_unsigned_lossy(%x: tensor<2xi8>) -> tensor<2xi16> {
  %0 = graph.cast %x : tensor<2xi8> to tensor<2xui8>
  %1 = graph.cast %0 : tensor<2xui8> to tensor<2xi16>
  // CHECK: graph.cast
  // CHECK: graph.cast
  return %1 : tensor<2xi16>
}

// CHECK-LABEL: func.func @add_zero
func.func @add_zero(%x: tensor<2xi64>) -> tensor<2xi64> {
  %z = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.add %z, %x : (tensor<1xi64>, tensor<2xi64>) -> tensor<2xi64>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @add_zero_float
func.func @add_zero_float(%x: tensor<2xf32>) -> tensor<2xf32> {
  %z = graph.constant dense<0.0> : tensor<2xf32>
  %0 = graph.add %x, %z : tensor<2xf32>
  // CHECK: graph.add
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @add_zero_broadcasts
func.func @add_zero_broadcasts(%x: tensor<1xi64>) -> tensor<2xi64> {
  %z = graph.constant dense<0> : tensor<2xi64>
  %0 = graph.add %x, %z : (tensor<1xi64>, tensor<2xi64>) -> tensor<2xi64>
  // CHECK: graph.add
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @mul_one
func.func @mul_one(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %o = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.mul %o, %x : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sub_zero
func.func @sub_zero(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %o = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.sub %x, %o : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @div_one
func.func @div_one(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %o = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.div %x, %o : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @max_same
func.func @max_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.max %x, %x : tensor<2x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @where_same
func.func @where_same(%x: tensor<2xf32>, %c: tensor<2xi1>) -> tensor<2xf32> {
  %0 = graph.where %c, %x, %x : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @where_true
func.func @where_true(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %c = graph.constant dense<true> : tensor<i1>
  %0 = graph.where %c, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @where_false
func.func @where_false(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %c = graph.constant dense<false> : tensor<i1>
  %0 = graph.where %c, %y, %x : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @abs
func.func @abs() -> tensor<3xi8> {
  %x = graph.constant dense<[-128, 127, -1]> : tensor<3xi8>
  %0 = graph.abs %x : tensor<3xi8>
  // CHECK: graph.constant dense<[-128, 127, 1]> : tensor<3xi8>
  return %0 : tensor<3xi8>
}

// CHECK-LABEL: func.func @neg_unsigned
func.func @neg_unsigned() -> tensor<2xui8> {
  %x = graph.constant dense<[0, 1]> : tensor<2xui8>
  %0 = graph.neg %x : tensor<2xui8>
  // CHECK: graph.constant dense<[0, 255]> : tensor<2xui8>
  return %0 : tensor<2xui8>
}

// CHECK-LABEL: func.func @sign
func.func @sign() -> tensor<3xf32> {
  %x = graph.constant dense<[-2.0, 0.0, 3.0]> : tensor<3xf32>
  %0 = graph.sign %x : tensor<3xf32>
  // CHECK: graph.constant dense<[-1.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @sqrt
func.func @sqrt() -> tensor<f32> {
  %x = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.sqrt %x : tensor<f32>
  // CHECK: graph.constant dense<1.41421354> : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @reciprocal
func.func @reciprocal() -> tensor<f16> {
  %x = graph.constant dense<3.0> : tensor<f16>
  %0 = graph.reciprocal %x : tensor<f16>
  // CHECK: graph.constant dense<3.332520e-01> : tensor<f16>
  return %0 : tensor<f16>
}

// CHECK-LABEL: func.func @floor
func.func @floor() -> tensor<2xf32> {
  %x = graph.constant dense<[-1.5, 1.5]> : tensor<2xf32>
  %0 = graph.floor %x : tensor<2xf32>
  // CHECK: graph.constant dense<[-2.000000e+00, 1.000000e+00]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @ceil
func.func @ceil() -> tensor<2xf32> {
  %x = graph.constant dense<[-1.5, 1.5]> : tensor<2xf32>
  %0 = graph.ceil %x : tensor<2xf32>
  // CHECK: graph.constant dense<[-1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @round
func.func @round() -> tensor<3xf32> {
  %x = graph.constant dense<[0.5, 1.5, -2.5]> : tensor<3xf32>
  %0 = graph.round %x : tensor<3xf32>
  // CHECK: graph.constant dense<[0.000000e+00, 2.000000e+00, -2.000000e+00]> : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @not
func.func @not() -> tensor<2xi1> {
  %x = graph.constant dense<[true, false]> : tensor<2xi1>
  %0 = graph.not %x : tensor<2xi1>
  // CHECK: graph.constant dense<[false, true]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @bitwise_not
func.func @bitwise_not() -> tensor<2xui8> {
  %x = graph.constant dense<[0, 15]> : tensor<2xui8>
  %0 = graph.bitwise_not %x : tensor<2xui8>
  // CHECK: graph.constant dense<[255, 240]> : tensor<2xui8>
  return %0 : tensor<2xui8>
}

// CHECK-LABEL: func.func @relu
func.func @relu() -> tensor<2xf32> {
  %x = graph.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %0 = graph.relu %x : tensor<2xf32>
  // CHECK: graph.constant dense<[0.000000e+00, 2.000000e+00]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @clip
func.func @clip() -> tensor<3xf32> {
  %x = graph.constant dense<[-1.0, 2.0, 9.0]> : tensor<3xf32>
  %a = graph.constant dense<0.0> : tensor<f32>
  %b = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.clip %x min %a max %b : (tensor<3xf32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
  // CHECK: dense<[0.000000e+00, 2.000000e+00, 6.000000e+00]> : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @cast_truncates
func.func @cast_truncates() -> tensor<2xi64> {
  %x = graph.constant dense<[-1.5, 1.5]> : tensor<2xf32>
  %0 = graph.cast %x : tensor<2xf32> to tensor<2xi64>
  // CHECK: graph.constant dense<[-1, 1]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @cast_narrows
func.func @cast_narrows() -> tensor<2xui8> {
  %x = graph.constant dense<[257, -1]> : tensor<2xi64>
  %0 = graph.cast %x : tensor<2xi64> to tensor<2xui8>
  // CHECK: graph.constant dense<[1, 255]> : tensor<2xui8>
  return %0 : tensor<2xui8>
}

// CHECK-LABEL: func.func @cast_bool
func.func @cast_bool() -> tensor<2xi1> {
  %x = graph.constant dense<[0.0, 0.5]> : tensor<2xf32>
  %0 = graph.cast %x : tensor<2xf32> to tensor<2xi1>
  // CHECK: graph.constant dense<[false, true]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @cast_rounds_once
func.func @cast_rounds_once() -> tensor<f32> {
  %x = graph.constant dense<9007199791611905> : tensor<i64>
  %0 = graph.cast %x : tensor<i64> to tensor<f32>
  // CHECK: graph.constant dense<9.007200e+15> : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @cast_saturates
func.func @cast_saturates() -> (tensor<4xi32>, tensor<4xui8>) {
  %x = graph.constant dense<[1.0e10, -1.0e10, 0x7FC00000, -1.5]> : tensor<4xf32>
  %0 = graph.cast %x : tensor<4xf32> to tensor<4xi32>
  %1 = graph.cast %x : tensor<4xf32> to tensor<4xui8>
  // CHECK: graph.constant dense<[2147483647, -2147483648, 0, -1]> : tensor<4xi32>
  // CHECK: graph.constant dense<[255, 0, 0, 0]> : tensor<4xui8>
  return %0, %1 : tensor<4xi32>, tensor<4xui8>
}

// CHECK-LABEL: func.func @add
func.func @add() -> tensor<2xi64> {
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %b = graph.constant dense<[10, 20]> : tensor<2xi64>
  %0 = graph.add %a, %b : tensor<2xi64>
  // CHECK: graph.constant dense<[11, 22]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @add_wraps
func.func @add_wraps() -> tensor<i8> {
  %a = graph.constant dense<127> : tensor<i8>
  %b = graph.constant dense<1> : tensor<i8>
  %0 = graph.add %a, %b : tensor<i8>
  // CHECK: graph.constant dense<-128> : tensor<i8>
  return %0 : tensor<i8>
}

// CHECK-LABEL: func.func @add_rounds
func.func @add_rounds() -> tensor<f32> {
  %a = graph.constant dense<0.1> : tensor<f32>
  %b = graph.constant dense<0.2> : tensor<f32>
  %0 = graph.add %a, %b : tensor<f32>
  // CHECK: graph.constant dense<3.000000e-01> : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @sub_wraps
func.func @sub_wraps() -> tensor<ui8> {
  %a = graph.constant dense<0> : tensor<ui8>
  %b = graph.constant dense<1> : tensor<ui8>
  %0 = graph.sub %a, %b : tensor<ui8>
  // CHECK: graph.constant dense<255> : tensor<ui8>
  return %0 : tensor<ui8>
}

// CHECK-LABEL: func.func @mul_broadcast
func.func @mul_broadcast() -> tensor<2x2xi64> {
  %a = graph.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %b = graph.constant dense<[3, 4]> : tensor<2xi64>
  %0 = graph.mul %a, %b : (tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x2xi64>
  // CHECK: graph.constant dense<{{\[\[}}3, 4], [6, 8{{\]\]}}> : tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}

// CHECK-LABEL: func.func @div_truncates
func.func @div_truncates() -> tensor<2xi64> {
  %a = graph.constant dense<[-7, 7]> : tensor<2xi64>
  %b = graph.constant dense<2> : tensor<i64>
  %0 = graph.div %a, %b : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  // CHECK: graph.constant dense<[-3, 3]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @div_wraps
func.func @div_wraps() -> tensor<i8> {
  %a = graph.constant dense<-128> : tensor<i8>
  %b = graph.constant dense<-1> : tensor<i8>
  %0 = graph.div %a, %b : tensor<i8>
  // CHECK: graph.constant dense<-128> : tensor<i8>
  return %0 : tensor<i8>
}

// CHECK-LABEL: func.func @div_unsigned
func.func @div_unsigned() -> tensor<ui64> {
  %a = graph.constant dense<18446744073709551615> : tensor<ui64>
  %b = graph.constant dense<2> : tensor<ui64>
  %0 = graph.div %a, %b : tensor<ui64>
  // CHECK: graph.constant dense<9223372036854775807> : tensor<ui64>
  return %0 : tensor<ui64>
}

// CHECK-LABEL: func.func @div_by_zero
func.func @div_by_zero() -> tensor<i64> {
  %a = graph.constant dense<1> : tensor<i64>
  %b = graph.constant dense<0> : tensor<i64>
  %0 = graph.div %a, %b : tensor<i64>
  // CHECK: graph.constant dense<0> : tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @mod
func.func @mod() -> tensor<2xi64> {
  %a = graph.constant dense<[-7, 7]> : tensor<2xi64>
  %b = graph.constant dense<[3, -3]> : tensor<2xi64>
  %0 = graph.mod %a, %b : tensor<2xi64>
  // CHECK: graph.constant dense<[2, -2]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @fmod
func.func @fmod() -> tensor<2xi64> {
  %a = graph.constant dense<[-7, 7]> : tensor<2xi64>
  %b = graph.constant dense<[3, -3]> : tensor<2xi64>
  %0 = graph.mod %a, %b fmod = true : tensor<2xi64>
  // CHECK: graph.constant dense<[-1, 1]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @min_unsigned
func.func @min_unsigned() -> tensor<2xui64> {
  %a = graph.constant dense<[1, 18446744073709551615]> : tensor<2xui64>
  %b = graph.constant dense<2> : tensor<ui64>
  %0 = graph.min %a, %b : (tensor<2xui64>, tensor<ui64>) -> tensor<2xui64>
  // CHECK: graph.constant dense<[1, 2]> : tensor<2xui64>
  return %0 : tensor<2xui64>
}

// CHECK-LABEL: func.func @max_nan
func.func @max_nan() -> tensor<2xf32> {
  %a = graph.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %b = graph.constant dense<[2.0, 0x7FC00000]> : tensor<2xf32>
  %0 = graph.max %a, %b : tensor<2xf32>
  // CHECK: graph.constant dense<0x7FC00000> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @pow
func.func @pow() -> tensor<2xf32> {
  %a = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %b = graph.constant dense<2> : tensor<i64>
  %0 = graph.pow %a, %b : (tensor<2xf32>, tensor<i64>) -> tensor<2xf32>
  // CHECK: graph.constant dense<[4.000000e+00, 9.000000e+00]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @equal
func.func @equal() -> tensor<2xi1> {
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %b = graph.constant dense<2> : tensor<i64>
  %0 = graph.equal %a, %b : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  // CHECK: graph.constant dense<[false, true]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @greater
func.func @greater() -> tensor<2xi1> {
  %a = graph.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %b = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.greater %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
  // CHECK: graph.constant dense<[false, true]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @less_or_equal_nan
func.func @less_or_equal_nan() -> tensor<2xi1> {
  %a = graph.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %b = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.less_or_equal %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
  // CHECK: graph.constant dense<[true, false]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @and
func.func @and() -> tensor<2xi1> {
  %a = graph.constant dense<[true, false]> : tensor<2xi1>
  %b = graph.constant dense<[true, true]> : tensor<2xi1>
  %0 = graph.and %a, %b : tensor<2xi1>
  // CHECK: graph.constant dense<[true, false]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @or
func.func @or() -> tensor<2xi1> {
  %a = graph.constant dense<[true, false]> : tensor<2xi1>
  %b = graph.constant dense<[false, false]> : tensor<2xi1>
  %0 = graph.or %a, %b : tensor<2xi1>
  // CHECK: graph.constant dense<[true, false]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @xor
func.func @xor() -> tensor<2xi1> {
  %a = graph.constant dense<[true, false]> : tensor<2xi1>
  %b = graph.constant dense<[true, true]> : tensor<2xi1>
  %0 = graph.xor %a, %b : tensor<2xi1>
  // CHECK: graph.constant dense<[false, true]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @shift
func.func @shift() -> tensor<2xui8> {
  %a = graph.constant dense<[1, 128]> : tensor<2xui8>
  %b = graph.constant dense<[7, 8]> : tensor<2xui8>
  %0 = graph.bit_shift %a, %b direction = "LEFT" : tensor<2xui8>
  // CHECK: graph.constant dense<[128, 0]> : tensor<2xui8>
  return %0 : tensor<2xui8>
}

// CHECK-LABEL: func.func @where
func.func @where() -> tensor<2xf32> {
  %c = graph.constant dense<[true, false]> : tensor<2xi1>
  %a = graph.constant dense<1.0> : tensor<f32>
  %b = graph.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %0 = graph.where %c, %a, %b : (tensor<2xi1>, tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: dense<[1.000000e+00, 6.000000e+00]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Large constants fold only if all elements are equal.
// CHECK-LABEL: func.func @large
func.func @large() -> (tensor<5000xi64>, tensor<2500x2xi64>) {
  %a = graph.constant dense<1> : tensor<5000xi64>
  %b = graph.constant dense<1> : tensor<2500x2xi64>
  %c = graph.constant dense<[1, 2]> : tensor<2xi64>
  %0 = graph.add %a, %a : tensor<5000xi64>
  %1 = graph.add %b, %c : (tensor<2500x2xi64>, tensor<2xi64>) -> tensor<2500x2xi64>
  // CHECK: graph.constant dense<2> : tensor<5000xi64>
  // CHECK: graph.add
  return %0, %1 : tensor<5000xi64>, tensor<2500x2xi64>
}

// CHECK-LABEL: func.func @dynamic_type
func.func @dynamic_type() -> tensor<?xi64> {
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %0 = graph.add %a, %a : (tensor<2xi64>, tensor<2xi64>) -> tensor<?xi64>
  // CHECK: graph.constant dense<[2, 4]> : tensor<2xi64> as tensor<?xi64>
  return %0 : tensor<?xi64>
}
