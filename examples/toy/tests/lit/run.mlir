// RUN: toy %s --run main | FileCheck %s
// RUN: toy %s --run half --arguments 5.0 | FileCheck %s --check-prefix=HALF
// RUN: not toy %s --run half --arguments x 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not toy %s --run half 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not toy %s --run nope 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not toy %s --run crash 2>&1 | FileCheck %s --check-prefix=CRASH
// RUN: not toy %s --run main --emit lower 2>&1 | FileCheck %s --check-prefix=EARLY

// HALF: {{^}}2.5{{$}}
// NUMBER: error: 'x' is no f64, which 'half' takes
// COUNT: error: 'half' takes (f64), and was given 0 numbers
// NAME: error: there is no function 'nope'; there are [crash, half, main]
// CRASH: error: 'crash' was ended by signal
// EARLY: error: 'func.func' is not of the LLVM dialect, to which a module is lowered before it is run

func.func private @multiply_transpose(%a: tensor<*xf64>, %b: tensor<*xf64>) -> tensor<*xf64> {
  %0 = toy.transpose %a : tensor<*xf64> -> tensor<*xf64>
  %1 = toy.transpose %b : tensor<*xf64> -> tensor<*xf64>
  %2 = toy.mul %0, %1 : tensor<*xf64>, tensor<*xf64> -> tensor<*xf64>
  return %2 : tensor<*xf64>
}

// CHECK: ( ( 1, 16 ), ( 4, 25 ), ( 9, 36 ) )
func.func @main() {
  %0 = toy.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64> : tensor<2x3xf64>
  %1 = toy.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf64> : tensor<6xf64>
  %2 = toy.reshape %1 : tensor<6xf64> -> tensor<2x3xf64>
  %3 = toy.cast %0 : tensor<2x3xf64> -> tensor<*xf64>
  %4 = toy.cast %2 : tensor<2x3xf64> -> tensor<*xf64>
  %5 = call @multiply_transpose(%3, %4) : (tensor<*xf64>, tensor<*xf64>) -> tensor<*xf64>
  toy.print %5 : tensor<*xf64>
  return
}

func.func @half(%x: f64) -> f64 {
  %two = arith.constant 2.0 : f64
  %y = arith.divf %x, %two : f64
  return %y : f64
}

func.func @crash() {
  %0 = llvm.mlir.constant(1 : i64) : i64
  %1 = llvm.inttoptr %0 : i64 to !llvm.ptr
  llvm.store volatile %0, %1 : i64, !llvm.ptr
  return
}
