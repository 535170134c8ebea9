// RUN: phaseline-opt %s --convert-tir-to-llvm | FileCheck %s

// CHECK: llvm.func @net_main(%{{.*}}: !llvm.ptr {phl.io = "output"}) {
// CHECK-NEXT: llvm.return
module attributes {phl.model = "net"} {
  llvm.func @net_main(%y: !llvm.ptr {phl.io = "output"}) {
    llvm.return
  }
}
