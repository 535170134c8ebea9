// RUN: phaseline-opt %s --make-entry-point -split-input-file | FileCheck %s

// Each argument of the main function is what its phl.io says, inputs and outputs in order; status 0 where it has none.
// CHECK: llvm.func internal @net_main(
// CHECK: llvm.func @net_invoke(%[[IN:[a-z0-9]+]]: !llvm.ptr, %[[OUT:[a-z0-9]+]]: !llvm.ptr, %[[CONSTANTS:[a-z0-9]+]]: !llvm.ptr, %[[ARENA:[a-z0-9]+]]: !llvm.ptr, %[[DEVICES:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr) -> i32
// CHECK: %[[P:.*]] = llvm.getelementptr %[[IN]][0]
// CHECK: %[[X:.*]] = llvm.load %[[P]]
// CHECK: %[[P:.*]] = llvm.getelementptr %[[IN]][1]
// CHECK: %[[Z:.*]] = llvm.load %[[P]]
// CHECK: %[[P:.*]] = llvm.getelementptr %[[OUT]][0]
// CHECK: %[[Y:.*]] = llvm.load %[[P]]
// CHECK: llvm.call @net_main(%[[X]], %[[CONSTANTS]], %[[ARENA]], %[[Z]], %[[Y]])
// CHECK: %[[OK:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.return %[[OK]]
module attributes {phl.model = "net"} {
  llvm.func @net_main(%x: !llvm.ptr {phl.io = "input"}, %c: !llvm.ptr {phl.io = "constants"}, %a: !llvm.ptr {phl.io = "arena"},
      %z: !llvm.ptr {phl.io = "input"}, %y: !llvm.ptr {phl.io = "output"}) {
    llvm.return
  }
}

// -----

// A status is handed on, and so are the devices.
// CHECK: llvm.func @net_invoke({{.*}}%[[DEVICES:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr) -> i32
// CHECK: %[[STATUS:.*]] = llvm.call @net_main(%{{.*}}, %[[DEVICES]])
// CHECK: llvm.return %[[STATUS]]
module attributes {phl.model = "net"} {
  llvm.func @net_main(%y: !llvm.ptr {phl.io = "output"}, %d: !llvm.ptr {phl.io = "devices"}) -> i32 {
    %0 = llvm.mlir.constant(3 : i32) : i32
    llvm.return %0 : i32
  }
}

// -----

// Devices are activated in order, and ended in the other, also when one cannot be or the model fails.
// CHECK: llvm.func @net_invoke(
// CHECK: %[[A:.*]] = llvm.call @net_a_activate(
// CHECK: llvm.cond_br %{{.*}}, ^[[B:bb[0-9]+]], ^[[LEAVE:bb[0-9]+]](%[[A]] : i32)
// CHECK: ^[[LEAVE]](%[[S:.*]]: i32):
// CHECK-NEXT: llvm.return %[[S]]
// CHECK: ^[[B]]:
// CHECK: %[[T:.*]] = llvm.call @net_b_activate(
// CHECK: llvm.cond_br %{{.*}}, ^[[MAIN:bb[0-9]+]], ^[[ENDA:bb[0-9]+]](%[[T]] : i32)
// CHECK: ^[[ENDA]](%[[S:.*]]: i32):
// CHECK: %[[S2:.*]] = llvm.call @net_a_deactivate(%{{.*}}, %[[S]])
// CHECK-NEXT: llvm.br ^[[LEAVE]](%[[S2]] : i32)
// CHECK: ^[[MAIN]]:
// CHECK: %[[S:.*]] = llvm.call @net_main(
// CHECK: llvm.br ^[[ENDB:bb[0-9]+]](%[[S]] : i32)
// CHECK: ^[[ENDB]](%[[S:.*]]: i32):
// CHECK: %[[S2:.*]] = llvm.call @net_b_deactivate(%{{.*}}, %[[S]])
// CHECK-NEXT: llvm.br ^[[ENDA]](%[[S2]] : i32)
module attributes {phl.model = "net", phl.devices = ["a", "b"], phl.contexts = ["a", "b"]} {
  llvm.func @net_main(%y: !llvm.ptr {phl.io = "output"}, %d: !llvm.ptr {phl.io = "devices"}) -> i32 {
    %0 = llvm.mlir.constant(3 : i32) : i32
    llvm.return %0 : i32
  }
}
