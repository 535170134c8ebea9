// RUN: phaseline-opt %s --reduce-with 'grep -q "call @scale(%%.*tensor<4xf32>) ->"' 2>/dev/null | FileCheck %s
// RUN: phaseline-opt %s --reduce-with 'grep -q "= call @scale"' 2>/dev/null | FileCheck %s --check-prefix=RESULT

// Arguments and results that nothing uses go, with their attributes, also where the function is called.
// CHECK: func.func @main(%[[T:.*]]: tensor<4xf32>) {
// CHECK-NEXT: call @scale(%[[T]]) : (tensor<4xf32>) -> ()
// CHECK-NEXT: return
// CHECK: func.func private @scale(tensor<4xf32>)

// RESULT: func.func @main() {
// RESULT-NEXT: %{{.*}} = call @scale() : () -> {{(f32|tensor<4xf32>)$}}
// RESULT-NEXT: return
// RESULT: func.func private @scale() -> {{(f32|tensor<4xf32>)$}}
func.func @main(%a: f32, %b: f32, %t: tensor<4xf32>) -> (f32, tensor<4xf32>) {
  %0:3 = call @scale(%a, %b, %t) : (f32, f32, tensor<4xf32>) -> (f32, f32, tensor<4xf32>)
  %1:3 = call @scale(%0#0, %b, %0#2) : (f32, f32, tensor<4xf32>) -> (f32, f32, tensor<4xf32>)
  %2 = arith.addf %1#0, %a : f32
  return %2, %0#2 : f32, tensor<4xf32>
}
func.func private @scale(%a: f32, %b: f32, %t: tensor<4xf32>) -> (f32, f32, tensor<4xf32>) {
  %1 = arith.mulf %a, %b : f32
  %2 = math.sqrt %1 : f32
  return %2, %b, %t : f32, f32, tensor<4xf32>
}
