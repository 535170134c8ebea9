// RUN: phaseline-opt %s --make-entry-point | FileCheck %s

// The module of a host that is not the model's last has no main function.
// CHECK: llvm.func @net_part
// CHECK-NOT: @net_invoke
module attributes {phl.model = "net"} {
  llvm.func @net_part(%x: !llvm.ptr {phl.io = "input"}) {
    llvm.return
  }
}
