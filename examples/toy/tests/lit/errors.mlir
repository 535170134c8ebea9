// RUN: not toy %s --emit nope 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not toy %s --from lower --emit shapes 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not toy %s 2>&1 | FileCheck %s

// PHASE: error: 'nope' is not a phase; the phases are shapes, lower, llvm
// ORDER: error: --emit shapes is not after --from lower
// CHECK: errors.mlir:[[@LINE+2]]:3: 'toy.print' op operand #0 must be tensor of 64-bit float values
func.func @f(%x: tensor<2xf32>) {
  toy.print %x : tensor<2xf32>
  return
}
