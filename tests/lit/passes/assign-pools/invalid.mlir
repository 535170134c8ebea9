// RUN: not phaseline-opt %s --split-input-file --assign-pools 2>&1 | FileCheck %s

// CHECK: does not fit pool 'ONLY', which has 256 bytes: 512 bytes of values at once, at {{.*}}invalid.mlir{{.*}}, and 0 of constants are 512. Give the pool 256 more
module attributes {phl.board = [{name = "ONLY", bytes = 256, alignment = 64, users = [], holds = ["activations"]}]} {
  func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
    %b = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
    memref.copy %x, %a : memref<64xf32> to memref<64xf32>
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    memref.copy %b, %y : memref<64xf32> to memref<64xf32>
    return
  }
}

// -----

// CHECK: needs 256 bytes, used by host, but no pool of the board that holds activations is reached by all of them
module attributes {phl.board = [{name = "NPU", bytes = 4096, alignment = 64, users = ["npu"], holds = ["activations"]}]} {
  func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
    memref.copy %x, %a : memref<64xf32> to memref<64xf32>
    memref.copy %a, %y : memref<64xf32> to memref<64xf32>
    return
  }
}

// -----

// CHECK: phl.board has the entry {name = "SRAM"}, which is no dictionary of name, bytes, alignment (a power of two), users and holds
module attributes {phl.board = [{name = "SRAM"}]} {
  func.func @main() {
    return
  }
}

// -----

// CHECK: needs 256 bytes, used by host, but no pool of the board holds activations: add "activations" to what one of them holds
module attributes {phl.board = [{name = "ROM", bytes = 4096, alignment = 64, users = [], holds = ["constants"]}]} {
  func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
    memref.copy %x, %a : memref<64xf32> to memref<64xf32>
    memref.copy %a, %y : memref<64xf32> to memref<64xf32>
    return
  }
}
