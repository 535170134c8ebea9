// RUN: phaseline-opt %s --outline-c-operations="headers=core.h:more.h emit={math.exp f32 core_exp(\$0); arith.divf * \$0 * core_inverse(\$1)}" | FileCheck %s

// One function for each operation and type that the text is for; in the bodies of loops, too.
// CHECK: phl.c_operations = "#include <math.h>\0A#include <stdint.h>\0A#include \22core.h\22\0A#include \22more.h\22\0A\0Afloat phl_operation_0(float x0) { return core_exp(x0); }\0A
// CHECK-SAME: float phl_operation_1(float x0, float x1) { return x0 * core_inverse(x1); }\0A
// CHECK-SAME: double phl_operation_2(double x0, double x1) { return x0 * core_inverse(x1); }
module {
  // CHECK-LABEL: func.func @net
  func.func @net(%x: memref<4xf32>, %y: memref<4xf32>, %d: f64, %to: memref<f64>) {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      // CHECK: %[[E:.*]] = func.call @phl_operation_0(%{{.*}}) : (f32) -> f32
      %0 = math.exp %a : f32
      // CHECK: %[[Q:.*]] = func.call @phl_operation_1(%[[E]], %{{.*}}) : (f32, f32) -> f32
      %1 = arith.divf %0, %a : f32
      // CHECK: func.call @phl_operation_0(%[[Q]])
      %2 = math.exp %1 : f32
      // CHECK: math.tanh
      %3 = math.tanh %2 : f32
      linalg.yield %3 : f32
    }
    // CHECK: math.exp %{{.*}} : f64
    %4 = math.exp %d : f64
    // CHECK: call @phl_operation_2
    %5 = arith.divf %4, %d : f64
    memref.store %5, %to[] : memref<f64>
    return
  }
  // CHECK: func.func private @phl_operation_0(f32) -> f32
  // CHECK: func.func private @phl_operation_1(f32, f32) -> f32
}
