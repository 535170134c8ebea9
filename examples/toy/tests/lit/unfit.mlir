// RUN: not toy opt %s --toy-infer-shapes 2>&1 | FileCheck %s

// Types that another operation does not take are an error that names both.
// CHECK: unfit.mlir:[[#@LINE+3]]:8: error: 'toy.cast' op a result has the type tensor<3x2xf64>, which its user 'toy.mul' at loc({{.*}}unfit.mlir":8:8) does not take: 'toy.mul' op has operands tensor<2x3xf64> and tensor<3x2xf64>
func.func @main(%x: tensor<2x3xf64>, %y: tensor<3x2xf64>) {
  %0 = toy.cast %x : tensor<2x3xf64> -> tensor<*xf64>
  %1 = toy.cast %y : tensor<3x2xf64> -> tensor<*xf64>
  %2 = toy.mul %0, %1 : tensor<*xf64>, tensor<*xf64> -> tensor<*xf64>
  toy.print %2 : tensor<*xf64>
  return
}
