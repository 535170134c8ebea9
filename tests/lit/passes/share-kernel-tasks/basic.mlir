// RUN: phaseline-opt %s --share-kernel-tasks | FileCheck %s

// The main function gets the pool, and gives it to what stands for the kernel, once for two calls.
module attributes {phl.model = "m"} {
  // CHECK-LABEL: llvm.func @m_main
  // CHECK-SAME: %[[X:.*]]: !llvm.ptr {phl.io = "input"}, %[[Y:.*]]: !llvm.ptr {phl.io = "output"}, %[[POOL:.*]]: !llvm.ptr {phl.io = "pool"}
  llvm.func @m_main(%x: !llvm.ptr {phl.io = "input"}, %y: !llvm.ptr {phl.io = "output"}) {
    %lo = llvm.mlir.constant(0 : i64) : i64
    %hi = llvm.mlir.constant(7 : i64) : i64
    // CHECK: llvm.call @m_k_shared(%[[POOL]], %[[X]], %[[Y]], %[[LO:.*]], %[[HI:.*]]) :
    // CHECK-NEXT: llvm.call @m_k_shared(%[[POOL]], %[[Y]], %[[Y]], %[[LO]], %[[HI]]) :
    // CHECK-NEXT: llvm.call @m_other(%[[X]])
    llvm.call @m_k(%x, %y, %lo, %hi) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
    llvm.call @m_k(%y, %y, %lo, %hi) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
    llvm.call @m_other(%x) : (!llvm.ptr) -> ()
    llvm.return
  }
  llvm.func @m_k(%x: !llvm.ptr, %y: !llvm.ptr, %lo: i64, %hi: i64) attributes {phl.kernel} {
    llvm.return
  }
  llvm.func @m_other(%x: !llvm.ptr) {
    llvm.return
  }
  // CHECK-LABEL: llvm.func internal @m_k_part(
  // CHECK-SAME: %[[LIST:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
  // CHECK: %[[A:.*]] = llvm.load
  // CHECK: %[[B:.*]] = llvm.load
  // CHECK: llvm.call @m_k(%[[A]], %[[B]], %[[BEGIN]], %[[END]])
  // CHECK-LABEL: llvm.func internal @m_k_shared(
  // CHECK-SAME: %[[P:.*]]: !llvm.ptr, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr, %[[LO:.*]]: i64, %[[HI:.*]]: i64) attributes {no_inline}
  // CHECK: llvm.cond_br
  // CHECK: llvm.call @m_k(%[[A]], %[[B]], %[[LO]], %[[HI]])
  // CHECK: llvm.store %[[A]]
  // CHECK: llvm.store %[[B]]
  // CHECK: %[[FOR:.*]] = llvm.load %[[P]]
  // CHECK: %[[PART:.*]] = llvm.mlir.addressof @m_k_part
  // CHECK: llvm.call %[[FOR]](%[[P]], %[[PART]], %{{.*}}, %[[HI]], %{{.*}}) : !llvm.ptr
  // CHECK-NOT: @m_k_shared(
}
