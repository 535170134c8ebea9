// RUN: phaseline-opt %s --convert-functions-to-dps -split-input-file -verify-diagnostics

// expected-error @+1 {{input 'image' of 'dynamic' has the type tensor<?xf32>, whose size is not known: give the unknown dimensions of the model's inputs with --shape}}
func.func @dynamic(%x: tensor<?xf32> {phl.name = "image"}) {
  return
}

// -----

// expected-error @+1 {{'scalar' returns i32; only tensors can be returned through buffers}}
func.func @scalar(%x: tensor<2xf32>) -> (tensor<2xf32>, i32) {
  %c = arith.constant 1 : i32
  return %x, %c : tensor<2xf32>, i32
}
