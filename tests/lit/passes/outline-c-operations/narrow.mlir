// RUN: phaseline-opt %s --outline-c-operations="emit={arith.addi * f(\$0, \$1); arith.truncf * h(\$0); arith.extf * w(\$0); arith.index_cast * i(\$0)}" | FileCheck %s

// Narrow integers are passed in 32 bits, an index in 64.
// CHECK: phl.c_operations = "{{.*}}int32_t phl_operation_0(int32_t x0, int32_t x1) { return (int8_t)f((int8_t)x0, (int8_t)x1); }\0A
// CHECK-SAME: int32_t phl_operation_1(int32_t x0, int32_t x1) { return (bool)f((bool)x0, (bool)x1); }\0A
// CHECK-SAME: int32_t phl_operation_2(float x0) { return (uint16_t)h(x0); }\0A
// CHECK-SAME: float phl_operation_3(int32_t x0) { return w((uint16_t)x0); }\0A
// CHECK-SAME: int64_t phl_operation_4(int32_t x0) { return (ptrdiff_t)i(x0); }\0A
module {
  // CHECK-LABEL: func.func @net
  func.func @net(%a: i8, %b: i1, %x: f32, %n: i32) -> (i8, i1, f16, f32, index) {
    // CHECK: %[[A:.*]] = arith.extsi %{{.*}} : i8 to i32
    // CHECK: %[[R:.*]] = call @phl_operation_0(%[[A]], %{{.*}}) : (i32, i32) -> i32
    // CHECK: arith.trunci %[[R]] : i32 to i8
    %0 = arith.addi %a, %a : i8
    // CHECK: arith.extui %{{.*}} : i1 to i32
    // CHECK: call @phl_operation_1
    // CHECK: arith.trunci %{{.*}} : i32 to i1
    %1 = arith.addi %b, %b : i1
    // CHECK: %[[H:.*]] = call @phl_operation_2(%{{.*}}) : (f32) -> i32
    // CHECK: %[[T:.*]] = arith.trunci %[[H]] : i32 to i16
    // CHECK: arith.bitcast %[[T]] : i16 to f16
    %2 = arith.truncf %x : f32 to f16
    // CHECK: %[[B:.*]] = arith.bitcast %{{.*}} : f16 to i16
    // CHECK: %[[W:.*]] = arith.extui %[[B]] : i16 to i32
    // CHECK: call @phl_operation_3(%[[W]]) : (i32) -> f32
    %3 = arith.extf %2 : f16 to f32
    // CHECK: %[[I:.*]] = call @phl_operation_4(%{{.*}}) : (i32) -> i64
    // CHECK: arith.index_cast %[[I]] : i64 to index
    %4 = arith.index_cast %n : i32 to index
    return %0, %1, %2, %3, %4 : i8, i1, f16, f32, index
  }
}
