// RUN: phaseline-opt %s --trace-operations | FileCheck %s
// RUN: phaseline-opt %s --trace-operations=calls=false | FileCheck %s --check-prefix=LIST

// Views and constants are no steps; what comes from one node without a kernel is one.
// CHECK: phl.operations = "[{\22node\22:\22Relu_1\22,\22target\22:\22llvm\22,\22means\22:\22kernel\22,\22code\22:\22conv\22,
// CHECK-SAME: \22inputs\22:[\2264xf32\22],\22outputs\22:[\2264xf32\22],\22tasks\22:4,\22operations\22:1000,\22bytes\22:512}
// CHECK-SAME: {\22node\22:\22Softmax_2\22,\22target\22:\22llvm\22,\22means\22:\22loop\22,\22code\22:\22linalg.fill, linalg.generic\22,
// CHECK-SAME: \22operations\22:64,
// CHECK-SAME: {\22node\22:\22Conv_3\22,\22target\22:\22npu\22,\22means\22:\22call\22,\22code\22:\22npu_0\22,
// CHECK-SAME: {\22node\22:\22Copy_4\22,\22target\22:\22llvm\22,\22means\22:\22copy\22,\22code\22:\22memref.copy\22,
// CHECK-LABEL: func.func @main
// CHECK: memref.view
// CHECK: tir.call_extern @net_trace args [-1 : i32]
// CHECK-NEXT: tir.call_extern @k_conv_0123456789abcdef
// CHECK-NEXT: tir.call_extern @net_trace args [0 : i32]
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: linalg.generic
// CHECK: tir.call_extern @net_trace args [1 : i32]
// CHECK-NEXT: tir.call_extern @npu_0
// CHECK-NEXT: tir.call_extern @net_trace args [2 : i32]
// CHECK-NEXT: memref.copy
// CHECK-NEXT: tir.call_extern @net_trace args [3 : i32]
// CHECK-NEXT: return

// LIST: phl.operations = "[{
// LIST-LABEL: func.func @main
// LIST-NOT: net_trace

#row = affine_map<(i) -> (i)>
module attributes {phl.model = "net"} {
  func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}, %a: memref<256xi8> {phl.io = "arena"}) attributes {phl.target = "llvm"} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %v = memref.view %a[%c0][] : memref<256xi8> to memref<64xf32>
    %f = arith.constant 1.0 : f32
    tir.call_extern @k_conv_0123456789abcdef(%c0, %c4 : index, index) ins(%x : memref<64xf32>) outs(%v : memref<64xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<scalars 0>, #tir.arg<scalars 1>] loc("Relu_1")
    linalg.fill ins(%f : f32) outs(%y : memref<64xf32>) loc("Softmax_2")
    linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%v : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    } loc("Softmax_2")
    tir.call_extern @npu_0 ins(%y : memref<64xf32>) outs(%v : memref<64xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.device = "npu", returns_status, with_device} loc("Conv_3")
    memref.copy %v, %y : memref<64xf32> to memref<64xf32> loc("Copy_4")
    return
  }
  func.func private @k_conv_0123456789abcdef(%x: memref<64xf32>, %y: memref<64xf32>, %lo: index, %hi: index) attributes {phl.kernel, phl.flops = 1000 : i64, phl.target = "llvm"} {
    return
  }
}
