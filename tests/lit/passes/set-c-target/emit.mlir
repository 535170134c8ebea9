// RUN: phaseline-opt %s --pass-pipeline='builtin.module(set-c-target{emit={math.exp f32 my_exp($0); arith.divf * my_div($0, $1)}})' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: phaseline compile %t.mlir --from=codegen --emit=c | FileCheck %s --check-prefix=C
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(set-c-target{emit={math.exp float my_exp($0)}})' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(set-c-target{emit=math.exp})' 2>&1 | FileCheck %s --check-prefix=FORM

// Operations of that name and type are printed so; others as usual.

// CHECK: module attributes {phl.c_emit = ["math.exp f32 my_exp($0)", "arith.divf * my_div($0, $1)"]}
// C: my_div(my_exp([[X:x[0-9]+]]), [[X]])
// C: my_div(exp([[D:x[0-9]+]]), [[D]])
// TYPE: emit: 'float' is no element type; * is any
// FORM: emit: 'math.exp' is not of the form OPERATION TYPE EXPRESSION
func.func @both(%x: memref<1xf32>, %d: memref<1xf64>) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<1xf32>
  %1 = math.exp %0 : f32
  %2 = arith.divf %1, %0 : f32
  memref.store %2, %x[%c0] : memref<1xf32>
  %3 = memref.load %d[%c0] : memref<1xf64>
  %4 = math.exp %3 : f64
  %5 = arith.divf %4, %3 : f64
  memref.store %5, %d[%c0] : memref<1xf64>
  return
}
