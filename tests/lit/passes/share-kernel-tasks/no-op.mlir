// RUN: phaseline-opt %s --share-kernel-tasks -split-input-file | FileCheck %s
// CHECK-NOT: _shared
// CHECK-NOT: pool

// No kernel is called.
module attributes {phl.model = "m"} {
  llvm.func @m_main(%x: !llvm.ptr {phl.io = "input"}) {
    llvm.call @m_other(%x) : (!llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @m_other(%x: !llvm.ptr) {
    llvm.return
  }
}

// -----

// The module of a target that does not run the model.
module attributes {phl.model = "m"} {
  llvm.func @m_part_0(%x: !llvm.ptr, %lo: i64, %hi: i64) {
    llvm.call @m_k(%x, %lo, %hi) : (!llvm.ptr, i64, i64) -> ()
    llvm.return
  }
  llvm.func @m_k(%x: !llvm.ptr, %lo: i64, %hi: i64) attributes {phl.kernel} {
    llvm.return
  }
}
