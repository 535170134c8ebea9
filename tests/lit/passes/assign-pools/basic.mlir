// RUN: phaseline-opt %s --split-input-file --assign-pools | FileCheck %s

// The buffer that is used most is in the fast pool; the one for which no space is left at that time is
// not, and a later one is there again. Constants are where constants may be.
// CHECK-LABEL: func.func @main
// CHECK: memref.alloc() {alignment = 64 : i64, phl.pool = "SLOW"} : memref<32xf32>
// CHECK: memref.alloc() {alignment = 64 : i64, phl.pool = "FAST"} : memref<64xf32>
// CHECK: memref.alloc() {alignment = 64 : i64, phl.pool = "FAST"} : memref<64xf32>
// CHECK: memref.get_global @w : memref<64xf32> {phl.pool = "FLASH"}
module attributes {phl.board = [
    {name = "FAST", bytes = 320, alignment = 64, users = [], holds = ["activations"]},
    {name = "SLOW", bytes = 4096, alignment = 64, users = [], holds = ["activations"]},
    {name = "FLASH", bytes = 4096, alignment = 64, users = [], holds = ["constants"]}]} {
  memref.global "private" constant @w : memref<64xf32> = dense<1.0>
  func.func @main(%x: memref<64xf32> {phl.io = "input"}, %s: memref<32xf32> {phl.io = "input"},
                  %y: memref<64xf32> {phl.io = "output"}, %z: memref<32xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %cold = memref.alloc() {alignment = 64 : i64} : memref<32xf32>
    %hot = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
    %late = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
    %w = memref.get_global @w : memref<64xf32>
    memref.copy %s, %cold : memref<32xf32> to memref<32xf32>
    memref.copy %x, %hot : memref<64xf32> to memref<64xf32>
    memref.copy %hot, %y : memref<64xf32> to memref<64xf32>
    memref.copy %hot, %y : memref<64xf32> to memref<64xf32>
    memref.copy %cold, %z : memref<32xf32> to memref<32xf32>
    memref.copy %w, %late : memref<64xf32> to memref<64xf32>
    memref.copy %late, %y : memref<64xf32> to memref<64xf32>
    return
  }
}

// -----

// Buffers of a device are in a pool that it reaches, and those that only the host uses are not in one of the
// device's; scratch memory of a device's call is its own.
// CHECK-LABEL: func.func private @npu_0
// CHECK: tir.call_extern @npu_op
// CHECK-SAME: phl.pool = "NPU"
// CHECK-LABEL: func.func @main
// CHECK: memref.alloc() {alignment = 64 : i64, phl.pool = "NPU"}
// CHECK: memref.alloc() {alignment = 64 : i64, phl.pool = "BOTH"}
// CHECK: memref.alloc() {alignment = 64 : i64, phl.pool = "BOTH"}
module attributes {phl.board = [
    {name = "NPU", bytes = 4096, alignment = 64, users = ["npu"], holds = ["activations"]},
    {name = "BOTH", bytes = 4096, alignment = 64, users = ["npu", "host"], holds = ["activations"]}]} {
  func.func private @npu_0(%a: memref<16xf32>, %b: memref<16xf32>) attributes {phl.target = "npu"} {
    tir.call_extern @npu_op ins(%a : memref<16xf32>) outs(%b : memref<16xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>, #tir.arg<scratch 0>] {scratch_bytes = 128 : i64}
    return
  }
  func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %only_npu = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
    %shared = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
    %only_host = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
    func.call @npu_0(%x, %only_npu) : (memref<16xf32>, memref<16xf32>) -> ()
    func.call @npu_0(%only_npu, %shared) : (memref<16xf32>, memref<16xf32>) -> ()
    memref.copy %shared, %only_host : memref<16xf32> to memref<16xf32>
    memref.copy %only_host, %y : memref<16xf32> to memref<16xf32>
    return
  }
}

// -----

// Inputs and outputs are buffers in a pool that holds them, for as long as the caller has them.
// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = memref.alloc() {phl.pool = "SRAM", phl.port = {argument = 0 : i64, is = "inputs"}}
// CHECK: %[[Y:.*]] = memref.alloc() {phl.pool = "SRAM", phl.port = {argument = 1 : i64, is = "outputs"}}
// CHECK: memref.copy %[[X]], %[[T:.*]] :
// CHECK: memref.copy %[[T]], %[[Y]] :
module attributes {phl.board = [
    {name = "SRAM", bytes = 4096, alignment = 64, users = [], holds = ["activations", "inputs", "outputs"]}]} {
  func.func @main(%x: memref<16xf32> {phl.io = "input"}, %y: memref<16xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %t = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
    memref.copy %x, %t : memref<16xf32> to memref<16xf32>
    memref.copy %t, %y : memref<16xf32> to memref<16xf32>
    return
  }
}
