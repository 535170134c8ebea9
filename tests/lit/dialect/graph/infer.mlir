// RUN: phaseline-opt %s --verify-diagnostics --split-input-file | FileCheck %s

// The inferred types show in the error that a wrong declared type gives, and
// wherever they match, in that there is none.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%a: tensor<?x1xf32>, %b: tensor<4x?xf32>, %c: tensor<?xf32>) {
  %0 = graph.add %a, %b : (tensor<?x1xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = graph.add %a, %c : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return
}

// -----

// An unknown dimension that meets a known one must have that size, or 1.
func.func @broadcast_known(%a: tensor<?xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{result #0 has type 'tensor<5xf32>', which does not fit the inferred type 'tensor<4xf32>'}}
  %0 = graph.add %a, %b : (tensor<?xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// Declared types may know more, and less.
// CHECK-LABEL: func.func @refined
func.func @refined(%x: tensor<?x3xf32>) {
  // CHECK: graph.relu %{{.*}} : (tensor<?x3xf32>) -> tensor<2x3xf32>
  %0 = graph.relu %x : (tensor<?x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.relu %{{.*}} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  %1 = graph.relu %0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @conv_dynamic(%x: tensor<?x3x?x224xf32>, %w: tensor<64x3x7x7xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x64x?x112xf32>'}}
  %0 = graph.conv %x, %w strides = [2, 2] pads = [3, 3, 3, 3] : (tensor<?x3x?x224xf32>, tensor<64x3x7x7xf32>) -> tensor<f32>
  return
}

// -----

func.func @conv_unknown_filter(%x: tensor<1x3x9x9xf32>, %w: tensor<?x?x?x3xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<1x?x?x7xf32>'}}
  %0 = graph.conv %x, %w : (tensor<1x3x9x9xf32>, tensor<?x?x?x3xf32>) -> tensor<f32>
  return
}

// -----

// The fourth window would start in the end padding.
func.func @pool_ceil(%x: tensor<1x1x6x7xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<1x1x3x4xf32>'}}
  %0 = graph.max_pool %x kernel_shape = [2, 2] strides = [2, 2] pads = [0, 0, 1, 0] ceil_mode = true : (tensor<1x1x6x7xf32>) -> tensor<f32>
  return
}

// -----

func.func @matmul(%a: tensor<?x12x?x64xf32>, %b: tensor<1x12x?x128xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x12x?x128xf32>'}}
  %0 = graph.matmul %a, %b : (tensor<?x12x?x64xf32>, tensor<1x12x?x128xf32>) -> tensor<f32>
  return
}

// -----

func.func @concat(%a: tensor<?x2xf32>, %b: tensor<3x?xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x2xf32>'}}
  %0 = graph.concat %a, %b axis = 0 : (tensor<?x2xf32>, tensor<3x?xf32>) -> tensor<f32>
  return
}

// -----

func.func @gather(%x: tensor<?x5xf32>, %i: tensor<2x?xi64>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<2x?x5xf32>'}}
  %0 = graph.gather %x, %i : (tensor<?x5xf32>, tensor<2x?xi64>) -> tensor<f32>
  return
}

// -----

func.func @einsum(%a: tensor<?x1x2xf32>, %b: tensor<4x2xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x4xf32>'}}
  %0 = graph.einsum "abc, bc -> ab", %a, %b : (tensor<?x1x2xf32>, tensor<4x2xf32>) -> tensor<f32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Sizes that are operands
//===----------------------------------------------------------------------===//

func.func @reshape_constant(%x: tensor<2x3x4xf32>) {
  %s = graph.constant dense<[0, -1]> : tensor<2xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<2x12xf32>'}}
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

// The unknown dimension is copied, so that the rest is known.
func.func @reshape_copied(%x: tensor<?x3x4xf32>) {
  %s = graph.constant dense<[0, -1]> : tensor<2xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x12xf32>'}}
  %0 = graph.reshape %x, %s : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

// Shapes in resources count as constants too.
func.func @reshape_resource(%x: tensor<2x3xf32>) {
  %s = graph.constant dense_resource<sizes> : tensor<2xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<3x2xf32>'}}
  %0 = graph.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      sizes: "0x080000000300000000000000FFFFFFFFFFFFFFFF"
    }
  }
#-}

// -----

// Shape arithmetic as exporters write it: [batch, length / 2, 768].
func.func @reshape_computed(%x: tensor<?x?x384xf32>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %last = graph.constant dense<768> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?x?x384xf32>) -> tensor<3xi64>
  %batch = graph.gather %shape, %zero : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %first = graph.unsqueeze %batch axes = [0] : (tensor<i64>) -> tensor<1xi64>
  %rest = graph.constant dense<-1> : tensor<1xi64>
  %sizes = graph.concat %first, %rest, %last axis = 0 : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x?x768xf32>'}}
  %0 = graph.reshape %x, %sizes : (tensor<?x?x384xf32>, tensor<3xi64>) -> tensor<f32>
  return
}

// -----

// The known dimensions of an otherwise unknown shape.
func.func @expand_computed(%x: tensor<1x1xf32>, %y: tensor<?x7x9xf32>) {
  %one = graph.constant dense<1> : tensor<1xi64>
  %three = graph.constant dense<3> : tensor<1xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %shape = graph.shape %y : (tensor<?x7x9xf32>) -> tensor<3xi64>
  %tail = graph.slice %shape, %one, %three : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %twice = graph.mul %tail, %two : (tensor<2xi64>, tensor<1xi64>) -> tensor<2xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<14x18xf32>'}}
  %0 = graph.expand %x, %twice : (tensor<1x1xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

// An exporter replaces -1 by 1.
func.func @expand_where(%x: tensor<1x1xf32>) {
  %given = graph.constant dense<[-1, 5]> : tensor<2xi64>
  %minus = graph.constant dense<-1> : tensor<2xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %ones = graph.constant_of_shape %two value = dense<1> : tensor<1xi64> : (tensor<1xi64>) -> tensor<2xi64>
  %open = graph.equal %given, %minus : tensor<2xi64>
  %sizes = graph.where %open, %ones, %given : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<1x5xf32>'}}
  %0 = graph.expand %x, %sizes : (tensor<1x1xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

func.func @reshape_unknown(%x: tensor<6xf32>, %s: tensor<3xi64>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x?x?xf32>'}}
  %0 = graph.reshape %x, %s : (tensor<6xf32>, tensor<3xi64>) -> tensor<f32>
  return
}

// -----

func.func @slice(%x: tensor<10x10x?xf32>) {
  %starts = graph.constant dense<[1, -1, 0]> : tensor<3xi64>
  %ends = graph.constant dense<[-2, -9223372036854775808, 9223372036854775807]> : tensor<3xi64>
  %axes = graph.constant dense<[0, 1, 2]> : tensor<3xi64>
  %steps = graph.constant dense<[3, -2, 1]> : tensor<3xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<3x5x?xf32>'}}
  %0 = graph.slice %x, %starts, %ends axes %axes steps %steps : (tensor<10x10x?xf32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<f32>
  return
}

// -----

func.func @pad(%x: tensor<2x?xf32>) {
  %pads = graph.constant dense<[1, 1, 2, 1]> : tensor<4xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<5x?xf32>'}}
  %0 = graph.pad %x, %pads : (tensor<2x?xf32>, tensor<4xi64>) -> tensor<f32>
  return
}

// -----

func.func @pad_axes(%x: tensor<2x5xf32>) {
  %pads = graph.constant dense<[-1, 1]> : tensor<2xi64>
  %axes = graph.constant dense<-1> : tensor<1xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<2x5xf32>'}}
  %0 = graph.pad %x, %pads axes %axes : (tensor<2x5xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<f32>
  return
}

// -----

func.func @tile(%x: tensor<2x?xf32>) {
  %repeats = graph.constant dense<[3, 2]> : tensor<2xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<6x?xf32>'}}
  %0 = graph.tile %x, %repeats : (tensor<2x?xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

func.func @range() {
  %start = graph.constant dense<10> : tensor<i64>
  %limit = graph.constant dense<0> : tensor<i64>
  %delta = graph.constant dense<-3> : tensor<i64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<4xi64>'}}
  %0 = graph.range %start, %limit, %delta : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @range_float() {
  %start = graph.constant dense<0.0> : tensor<f32>
  %limit = graph.constant dense<1.0> : tensor<f32>
  %delta = graph.constant dense<0.3> : tensor<f32>
  // expected-error @+1 {{does not fit the inferred type 'tensor<4xf32>'}}
  %0 = graph.range %start, %limit, %delta : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @one_hot(%i: tensor<?xi64>, %v: tensor<2xf32>) {
  %depth = graph.constant dense<10> : tensor<i64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x10xf32>'}}
  %0 = graph.one_hot %i, %depth, %v : (tensor<?xi64>, tensor<i64>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @top_k(%x: tensor<?x100xf32>) {
  %k = graph.constant dense<5> : tensor<1xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x5xf32>'}}
  %0:2 = graph.top_k %x, %k : (tensor<?x100xf32>, tensor<1xi64>) -> (tensor<f32>, tensor<i64>)
  return
}

// -----

func.func @resize_scales(%x: tensor<1x3x5x?xf32>) {
  %s = graph.constant dense<[1.0, 1.0, 2.5, 2.0]> : tensor<4xf32>
  // expected-error @+1 {{does not fit the inferred type 'tensor<1x3x12x?xf32>'}}
  %0 = graph.resize %x scales %s : (tensor<1x3x5x?xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @resize_sizes(%x: tensor<1x3x4x2xf32>) {
  %s = graph.constant dense<[6, 6]> : tensor<2xi64>
  // expected-error @+1 {{does not fit the inferred type 'tensor<1x3x6x3xf32>'}}
  %0 = graph.resize %x sizes %s {axes = array<i64: 2, 3>, keep_aspect_ratio_policy = "not_larger"} : (tensor<1x3x4x2xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

func.func @flatten(%x: tensor<2x?x3x4xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x12xf32>'}}
  %0 = graph.flatten %x axis = 2 : (tensor<2x?x3x4xf32>) -> tensor<f32>
  return
}

// -----

func.func @quantized(%x: tensor<?x4xf32>, %s: tensor<4xf32>, %z: tensor<4xi8>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<?x4xi8>'}}
  %0 = graph.quantize_linear %x, %s, %z : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xi8>) -> tensor<?x4xui8>
  return
}
