// RUN: phaseline-opt %s --make-entry-point -verify-diagnostics

module attributes {phl.model = "net"} {
  // expected-error @+1 {{argument 1 has no phl.io that says what it is}}
  llvm.func @net_main(%x: !llvm.ptr {phl.io = "input"}, %a: !llvm.ptr {phl.io = "nonsense"}) {
    llvm.return
  }
}
