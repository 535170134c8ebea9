// RUN: phaseline-opt %s --split-input-file --pass-pipeline='builtin.module(pack-constants,plan-memory,verify-plan)' --verify-diagnostics | FileCheck %s

// Each pool of the board is an arena of its own, aligned as the pool is, and each with constants has a
// block of them; what is called is given its frame in the same pool.
// CHECK: phl.constants = {{.*}} : tensor<512xi8>
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: memref<256xi8> {phl.io = "pool-arena", {{.*}}phl.memory = "FAST"{{.*}}}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[FLASH:[a-z0-9]+]]: memref<256xi8> {phl.io = "pool-constants", phl.memory = "FLASH"}
// CHECK-SAME: %[[CORE:[a-z0-9]+]]: memref<256xi8> {phl.io = "pool-constants", phl.memory = "CORE"}
// CHECK-SAME: %[[FAST:[a-z0-9]+]]: memref<512xi8> {phl.io = "pool-arena", phl.lower_bound = 512 : i64, phl.memory = "FAST", phl.peak = "{{[^"]*}}"}
// CHECK-SAME: %[[SLOW:[a-z0-9]+]]: memref<256xi8> {phl.io = "pool-arena", phl.lower_bound = 256 : i64, phl.memory = "SLOW"
// CHECK-DAG: memref.view %[[FLASH]]
// CHECK-DAG: memref.view %[[CORE]]
// CHECK: memref.view %[[FAST]]
// CHECK: memref.view %[[SLOW]]
// CHECK-NOT: memref.alloc
module attributes {phl.board = [
    {name = "FAST", bytes = 1024, alignment = 256, users = [], holds = ["activations"]},
    {name = "SLOW", bytes = 4096, alignment = 64, users = [], holds = ["activations"]},
    {name = "FLASH", bytes = 4096, alignment = 64, users = [], holds = ["constants"]},
    {name = "CORE", bytes = 4096, alignment = 64, users = [], holds = ["constants"]}]} {
  memref.global "private" constant @w : memref<64xf32> = dense<1.0>
  memref.global "private" constant @v : memref<64xf32> = dense<2.0>
  func.func private @inner(%a: memref<64xf32>, %b: memref<64xf32>) attributes {phl.target = "npu"} {
    %t = memref.alloc() {alignment = 64 : i64, phl.pool = "FAST"} : memref<64xf32>
    memref.copy %a, %t : memref<64xf32> to memref<64xf32>
    memref.copy %t, %b : memref<64xf32> to memref<64xf32>
    return
  }
  func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %w = memref.get_global @w : memref<64xf32> {phl.pool = "FLASH"}
    %v = memref.get_global @v : memref<64xf32> {phl.pool = "CORE"}
    %a = memref.alloc() {alignment = 64 : i64, phl.pool = "FAST"} : memref<64xf32>
    %b = memref.alloc() {alignment = 64 : i64, phl.pool = "SLOW"} : memref<64xf32>
    memref.copy %w, %a : memref<64xf32> to memref<64xf32>
    tir.call_extern @inner ins(%a : memref<64xf32>) outs(%b : memref<64xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
    memref.copy %b, %y : memref<64xf32> to memref<64xf32>
    memref.copy %v, %y : memref<64xf32> to memref<64xf32>
    return
  }
}

// -----

module attributes {phl.board = [{name = "FAST", bytes = 1024, alignment = 64, users = [], holds = ["activations"]}]} {
  func.func @main(%x: memref<64xf32> {phl.io = "input"}, %y: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    // expected-error @+1 {{asks for memory in no pool, but the module has a board: run assign-pools}}
    %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
    memref.copy %x, %a : memref<64xf32> to memref<64xf32>
    memref.copy %a, %y : memref<64xf32> to memref<64xf32>
    return
  }
}

// -----

// An input has its place for itself until it is read last, and an output from when it is written first on;
// both are said on their arguments. The buffer in between lies where the input was.
// CHECK-LABEL: func.func @main
// CHECK-SAME: memref<64xf32> {phl.io = "input", phl.memory = "SRAM", phl.offset = [[IN:[0-9]+]] : i64}
// CHECK-SAME: memref<64xf32> {phl.io = "output", phl.memory = "SRAM", phl.offset = [[OUT:[0-9]+]] : i64}
// CHECK-SAME: memref<512xi8> {phl.io = "pool-arena"
// CHECK: memref.view {{.*}}phl.port = {argument = 0 : i64, is = "inputs"}
// CHECK: memref.view {{.*}}phl.port = {argument = 1 : i64, is = "outputs"}
module attributes {phl.board = [{name = "SRAM", bytes = 4096, alignment = 64, users = [], holds = ["activations", "inputs", "outputs"]}]} {
  func.func @main(%arg0: memref<64xf32> {phl.io = "input"}, %arg1: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
    %x = memref.alloc() {phl.pool = "SRAM", phl.port = {argument = 0 : i64, is = "inputs"}} : memref<64xf32>
    %y = memref.alloc() {phl.pool = "SRAM", phl.port = {argument = 1 : i64, is = "outputs"}} : memref<64xf32>
    %a = memref.alloc() {alignment = 64 : i64, phl.pool = "SRAM"} : memref<64xf32>
    %b = memref.alloc() {alignment = 64 : i64, phl.pool = "SRAM"} : memref<64xf32>
    memref.copy %x, %a : memref<64xf32> to memref<64xf32>
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    memref.copy %b, %y : memref<64xf32> to memref<64xf32>
    return
  }
}
