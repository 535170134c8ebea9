// RUN: phaseline-opt %s --pack-constants -verify-diagnostics

// expected-error @+1 {{the module has constants in phl.constants already}}
module attributes {phl.constants = dense<0> : tensor<64xi8>} {
  memref.global "private" constant @big : memref<32xf32> = dense<3.0>
  func.func @main(%y: memref<32xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %0 = memref.get_global @big : memref<32xf32>
    memref.copy %0, %y : memref<32xf32> to memref<32xf32>
    return
  }
}
