// RUN: phaseline-opt %s -split-input-file --convert-tir-to-llvm | FileCheck %s

// A device's function that is given what the device was opened with passes the device on, its first field, and to what
// executes a blob all of it. What is called around the function is in one of its name.
// CHECK-LABEL: module attributes {
// CHECK-SAME: phl.blobs = [{artifact = "npu_0.blob", function = "npu_0_blob", inputs = array<i64: 0>, outputs = array<i64: 1>}]
// CHECK: llvm.func internal @net_npu_0_active(%[[HANDLE:[a-z0-9]+]]: !llvm.ptr, {{.*}} -> i32
// CHECK: %[[SLOT:.*]] = llvm.alloca
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[SLOT]][0]
// CHECK: llvm.store %[[HANDLE]], %[[PLACE]]
// CHECK: %[[SESSION:.*]] = llvm.load
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[SESSION]][0]
// CHECK: %[[DEVICE:.*]] = llvm.load %[[FIELD]]
// CHECK: llvm.call @npu_set(%[[DEVICE]],
// CHECK: %[[ALL:.*]] = llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.call @npu_0_blob(%[[ALL]],
// CHECK: llvm.func @net_npu_0(%[[GIVEN:[a-z0-9]+]]: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr, %[[Y:[a-z0-9]+]]: !llvm.ptr) -> i32
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[GIVEN]][0]
// CHECK: %[[OWN:.*]] = llvm.load %[[FIRST]]
// CHECK: %[[BEGUN:.*]] = llvm.call @npu_begin(%[[OWN]])
// CHECK: llvm.cond_br %{{.*}}, ^[[WORK:.*]], ^[[LEAVE:.*]](%[[BEGUN]] : i32)
// CHECK: ^[[WORK]]:
// CHECK: %[[STATUS:.*]] = llvm.call @net_npu_0_active(%[[GIVEN]], %[[X]], %[[Y]])
// CHECK: %[[ENDED:.*]] = llvm.call @npu_end(%[[OWN]])
// CHECK: %[[GOOD:.*]] = llvm.icmp "eq" %[[STATUS]],
// CHECK: %[[RESULT:.*]] = llvm.select %[[GOOD]], %[[ENDED]], %[[STATUS]]
// CHECK: llvm.return %[[RESULT]]
// CHECK: ^[[LEAVE]](%[[CODE:.*]]: i32):
// CHECK: llvm.return %[[CODE]]
module attributes {phl.devices = ["npu"], phl.model = "net", phl.target = "npu"} {
  llvm.func @net_npu_0(%x: !llvm.ptr {phl.io = "input"}, %y: !llvm.ptr {phl.io = "output"})
      attributes {phl.activate = "npu_begin", phl.deactivate = "npu_end", phl.session} {
    %0 = builtin.unrealized_conversion_cast %x : !llvm.ptr to memref<4xf32>
    %1 = builtin.unrealized_conversion_cast %y : !llvm.ptr to memref<4xf32>
    tir.call_extern @npu_set outs(%1 : memref<4xf32>) args [#tir.arg<outs 0>] {returns_status, with_device}
    tir.call_extern @npu_0_blob ins(%0 : memref<4xf32>) outs(%1 : memref<4xf32>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>] {phl.blob = "npu_0.blob", phl.session, returns_status, with_device}
    llvm.return
  }
}

// -----

// The functions of a device with memory are given the device.
// CHECK: llvm.func @net_npu_7(%[[SESSION:[a-z0-9]+]]: !llvm.ptr,
// CHECK: llvm.store %[[SESSION]], %
// CHECK: %[[DEVICE:.*]] = llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.call @npu_set(%[[DEVICE]],
module attributes {phl.devices = ["npu"], phl.model = "net", phl.target = "npu",
                   phl.memories = [{target = "npu", space = "npu_dram", bytes = 0 : i64, alignment = 64 : i64}]} {
  llvm.func @net_npu_7(%y: !llvm.ptr {phl.io = "output"}) {
    %1 = builtin.unrealized_conversion_cast %y : !llvm.ptr to memref<4xf32>
    tir.call_extern @npu_set outs(%1 : memref<4xf32>) args [#tir.arg<outs 0>] {returns_status, with_device}
    llvm.return
  }
}
