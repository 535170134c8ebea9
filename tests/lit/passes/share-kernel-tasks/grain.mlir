// RUN: phaseline-opt %s --share-kernel-tasks | FileCheck %s

// The pool is told how many tasks are worth a thread, one if the kernel does not say.
module attributes {phl.model = "m"} {
  llvm.func @m_main(%x: !llvm.ptr {phl.io = "input"}) {
    %lo = llvm.mlir.constant(0 : i64) : i64
    %hi = llvm.mlir.constant(7 : i64) : i64
    llvm.call @m_small(%x, %lo, %hi) : (!llvm.ptr, i64, i64) -> ()
    llvm.call @m_large(%x, %lo, %hi) : (!llvm.ptr, i64, i64) -> ()
    llvm.return
  }
  llvm.func @m_small(%x: !llvm.ptr, %lo: i64, %hi: i64) attributes {phl.kernel, phl.grain = 5 : i64} {
    llvm.return
  }
  llvm.func @m_large(%x: !llvm.ptr, %lo: i64, %hi: i64) attributes {phl.kernel} {
    llvm.return
  }
}
// CHECK-LABEL: llvm.func internal @m_small_shared(
// CHECK: llvm.mlir.addressof @m_small_part
// CHECK: %[[GRAIN:.*]] = llvm.mlir.constant(5 : i64)
// CHECK: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[GRAIN]]) : !llvm.ptr
// CHECK-LABEL: llvm.func internal @m_large_shared(
// CHECK: llvm.mlir.addressof @m_large_part
// CHECK: %[[GRAIN:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[GRAIN]]) : !llvm.ptr
