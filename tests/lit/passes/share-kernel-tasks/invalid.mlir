// RUN: phaseline-opt %s --share-kernel-tasks -verify-diagnostics

module attributes {phl.model = "m"} {
  llvm.func @m_main(%x: !llvm.ptr {phl.io = "input"}) {
    llvm.call @m_k(%x) : (!llvm.ptr) -> ()
    llvm.return
  }
  // expected-error @+1 {{is a kernel, so it has to take addresses and two numbers of tasks}}
  llvm.func @m_k(%x: !llvm.ptr) attributes {phl.kernel} {
    llvm.return
  }
}
