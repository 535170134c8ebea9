// RUN: phaseline-opt %s --make-entry-point -split-input-file | FileCheck %s

// Kernels that use AMX's registers need leave, for which Linux is asked first; 9 says that it was refused.
// CHECK-LABEL: llvm.func @net_invoke
// CHECK: %[[CALL:.*]] = llvm.mlir.constant(158 : i64)
// CHECK: %[[ASK:.*]] = llvm.mlir.constant(4131 : i64)
// CHECK: %[[TILES:.*]] = llvm.mlir.constant(18 : i64)
// CHECK: %[[ANSWER:.*]] = llvm.inline_asm has_side_effects "syscall", "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}" %[[CALL]], %[[ASK]], %[[TILES]]
// CHECK: %[[GRANTED:.*]] = llvm.icmp "eq" %[[ANSWER]]
// CHECK: %[[REFUSED:.*]] = llvm.mlir.constant(9 : i32)
// CHECK: %[[STATUS:.*]] = llvm.select %[[GRANTED]], %{{.*}}, %[[REFUSED]]
// CHECK: %[[GOOD:.*]] = llvm.icmp "eq" %[[STATUS]]
// CHECK: llvm.cond_br %[[GOOD]], ^[[GO:.*]], ^[[LEAVE:.*]](%[[STATUS]] : i32)
// CHECK: ^[[LEAVE]](%[[GIVEN:.*]]: i32):
// CHECK: llvm.return %[[GIVEN]]
// CHECK: ^[[GO]]:
// CHECK: llvm.call @net_main
module attributes {phl.model = "net", llvm.target_triple = "x86_64-unknown-linux-gnu"} {
  llvm.func @k(%x: !llvm.ptr) attributes {phl.amx} {
    llvm.return
  }
  llvm.func @net_main(%x: !llvm.ptr {phl.io = "input"}) {
    llvm.call @k(%x) : (!llvm.ptr) -> ()
    llvm.return
  }
}

// -----

// Others do not.
// CHECK-LABEL: llvm.func @net_invoke
// CHECK-NOT: inline_asm
module attributes {phl.model = "net", llvm.target_triple = "x86_64-unknown-linux-gnu"} {
  llvm.func @net_main(%x: !llvm.ptr {phl.io = "input"}) {
    llvm.return
  }
}
