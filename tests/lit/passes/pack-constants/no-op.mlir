// RUN: phaseline-opt %s --pack-constants | FileCheck %s

// Nothing reads the large one, the small one stays in the host's code, and what is no constant is no constant.
// CHECK-NOT: phl.constants
// CHECK-COUNT-2: memref.get_global
// CHECK-NOT: memref.view
memref.global "private" constant @unread : memref<64xf32> = dense<1.0>
memref.global "private" constant @small : memref<16xf32> = dense<1.0>
memref.global "private" @state : memref<64xf32> = dense<1.0>
func.func @main(%y: memref<16xf32> {phl.io = "output"}, %z: memref<64xf32> {phl.io = "output"}) attributes {phl.target = "llvm"} {
  %0 = memref.get_global @small : memref<16xf32>
  %1 = memref.get_global @state : memref<64xf32>
  memref.copy %0, %y : memref<16xf32> to memref<16xf32>
  memref.copy %1, %z : memref<64xf32> to memref<64xf32>
  return
}
