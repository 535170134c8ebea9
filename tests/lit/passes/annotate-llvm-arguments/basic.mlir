// RUN: phaseline-opt %s --annotate-llvm-arguments | FileCheck %s

// All buffers are apart; arena and constants are aligned; numbers are left alone.
// CHECK: %{{.*}}: memref<4xf32> {llvm.noalias, phl.io = "input"},
// CHECK-SAME: %{{.*}}: memref<64xi8> {llvm.align = 64 : i64, llvm.noalias, phl.io = "constants"},
// CHECK-SAME: %{{.*}}: memref<64xi8> {llvm.align = 64 : i64, llvm.noalias, phl.io = "arena"}, %{{.*}}: i32,
// CHECK-SAME: %{{.*}}: memref<4xf32> {llvm.noalias, phl.io = "output"})
func.func @main(%x: memref<4xf32> {phl.io = "input"}, %c: memref<64xi8> {phl.io = "constants"},
    %a: memref<64xi8> {phl.io = "arena"}, %n: i32, %y: memref<4xf32> {phl.io = "output"}) {
  return
}

// The arena is where the input was.
// CHECK-LABEL: @row
// CHECK-NOT: llvm.noalias
// CHECK: return
func.func @row(%x: memref<4xf32> {phl.io = "input"}, %a: memref<64xi8> {phl.io = "arena"})
    attributes {phl.shares_bytes} {
  return
}
