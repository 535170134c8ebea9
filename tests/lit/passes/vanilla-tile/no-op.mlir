// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-tile))' | FileCheck %s

// Calls that are not marked as whole layers are left alone.
// CHECK-LABEL: func.func @tile
// CHECK-NOT: scf.for
// CHECK: tir.call_extern @vanilla_dense ins(%arg0, %arg1 :
func.func @tile(%x: tensor<2000x40xf32>, %w: tensor<1x40x8xf32>, %y: tensor<2000x8xf32>) -> tensor<2000x8xf32> {
  %r = tir.call_extern @vanilla_dense ins(%x, %w : tensor<2000x40xf32>, tensor<1x40x8xf32>)
      outs(%y : tensor<2000x8xf32>)
      args [#tir.struct<"vanilla_dense_params", {rows = 2000 : i32, in = 40 : i32, out = 8 : i32}>,
            #tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>, 0 : i32, #tir.arg<outs 0, offset>]
      {header = "vanilla.h", returns_status, with_device} -> tensor<2000x8xf32>
  return %r : tensor<2000x8xf32>
}
