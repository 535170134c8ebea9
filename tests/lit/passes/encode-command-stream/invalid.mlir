// RUN: not phaseline-opt %s --split-input-file --encode-command-stream="submit=npu_submit opcodes={npu_add=2}" 2>&1 | FileCheck %s
// RUN: not phaseline-opt %s --split-input-file --encode-command-stream 2>&1 | FileCheck --check-prefix=OPTIONS %s
// RUN: not phaseline-opt %s --split-input-file --encode-command-stream="submit=f opcodes={npu_add}" 2>&1 | FileCheck --check-prefix=FORM %s

// OPTIONS: needs the options submit and opcodes
// FORM: opcodes: 'npu_add' is not NAME=NUMBER

// CHECK: calls npu_conv, which has no opcode
func.func @opcode(%x: tensor<4xi8>) -> tensor<4xi8> {
  %e = tensor.empty() : tensor<4xi8>
  %0 = tir.call_extern @npu_conv ins(%x : tensor<4xi8>) outs(%e : tensor<4xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// CHECK: passes #tir.name<"FAST">, which has no form in a command stream
func.func @name(%x: tensor<4xi8>) -> tensor<4xi8> {
  %e = tensor.empty() : tensor<4xi8>
  %0 = tir.call_extern @npu_add ins(%x : tensor<4xi8>) outs(%e : tensor<4xi8>)
      args [#tir.arg<ins 0>, #tir.name<"FAST">, #tir.arg<outs 0>] -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// CHECK: has no place in a command stream; only calls have
func.func @other(%x: tensor<4xi8>) -> tensor<4xi8> {
  %e = tensor.empty() : tensor<4xi8>
  %0 = tir.call_extern @npu_add ins(%x : tensor<4xi8>) outs(%e : tensor<4xi8>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<4xi8>
  %1 = arith.addi %0, %0 : tensor<4xi8>
  return %1 : tensor<4xi8>
}
