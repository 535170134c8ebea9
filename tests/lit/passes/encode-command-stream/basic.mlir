// RUN: phaseline-opt %s --encode-command-stream="submit=npu_submit opcodes={npu_conv=1 npu_add=2} alignment=16" | FileCheck %s

// Two commands become one submission: 16 bytes of header, two times 8 and seven arguments of 16.
// What lives between them is in scratch memory, aligned.
// CHECK-LABEL: func.func @two
// CHECK-SAME: (%[[X:.*]]: tensor<20xi8>)
// CHECK-DAG: %[[S:.*]] = arith.constant dense_resource<{{[a-z_0-9]*}}.stream> : tensor<144xi8>
// CHECK-DAG: %[[W:.*]] = arith.constant dense_resource<{{[a-z_0-9]*}}.weights> : tensor<4xi8>
// CHECK-NOT: @npu_conv
// CHECK: %[[R:.*]] = tir.call_extern @npu_submit ins(%[[S]], %[[W]], %[[X]] :
// CHECK-SAME: args [#tir.arg<ins 0>, 144, #tir.arg<ins 1>, #tir.arg<scratch 0>, 1 : i32, 1 : i32, #tir.arg<ins 2>, #tir.arg<outs 0>]
// CHECK-SAME: returns_status
// CHECK-SAME: scratch_bytes = 20
// CHECK-SAME: with_device
// CHECK-NEXT: return %[[R]]
func.func @two(%x: tensor<20xi8>) -> tensor<20xi8> {
  %w = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %e = tensor.empty() : tensor<20xi8>
  %0 = tir.call_extern @npu_conv ins(%x, %w : tensor<20xi8>, tensor<4xi8>) outs(%e : tensor<20xi8>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>, 7 : i32] {with_device} -> tensor<20xi8>
  %1 = tir.call_extern @npu_add ins(%0 : tensor<20xi8>) outs(%e : tensor<20xi8>)
      args [#tir.arg<ins 0>, #tir.name<"NULL">, #tir.arg<outs 0>] -> tensor<20xi8>
  return %1 : tensor<20xi8>
}

// A function without calls stays.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: return %arg0
// The constant is in the weights; the stream starts with its magic.
// CHECK: {{[a-z_0-9]*}}.stream: "0x4000000050484C5301000000
// CHECK: {{[a-z_0-9]*}}.weights: "0x4000000001020304"
func.func @none(%x: tensor<4xi8>) -> tensor<4xi8> {
  return %x : tensor<4xi8>
}
