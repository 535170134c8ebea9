// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-tile{scratchpad=1024}))' -split-input-file -verify-diagnostics

func.func @too_large(%x: tensor<1x1x99x99xf32>, %w: tensor<1x1x78408xf32>) -> tensor<1x8x1x1xf32> {
  %init = tensor.empty() : tensor<1x8x1x1xf32>
  // expected-error @+1 {{'tir.call_extern' op has no tile that fits 1024 bytes of scratchpad: even one position of the output needs more for kernel 99x99}}
  %y = tir.call_extern @vanilla_conv2d ins(%x, %w : tensor<1x1x99x99xf32>, tensor<1x1x78408xf32>)
      outs(%init : tensor<1x8x1x1xf32>)
      args [#tir.struct<"vanilla_conv2d_params", {in_c = 1 : i32, in_h = 99 : i32, in_w = 99 : i32,
              out_c = 8 : i32, out_h = 1 : i32, out_w = 1 : i32, kernel_h = 99 : i32, kernel_w = 99 : i32,
              stride_h = 1 : i32, stride_w = 1 : i32, dilation_h = 1 : i32, dilation_w = 1 : i32,
              pad_top = 0 : i32, pad_left = 0 : i32}>,
            #tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>, 0 : i32, #tir.arg<outs 0, offset>]
      {header = "vanilla.h", returns_status, with_device, vanilla.layer} -> tensor<1x8x1x1xf32>
  return %y : tensor<1x8x1x1xf32>
}

// -----

func.func @malformed(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is marked as a layer of vanilla, but is not one that vanilla-lower makes}}
  %r = tir.call_extern @other ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] {vanilla.layer} -> tensor<4xf32>
  return %r : tensor<4xf32>
}
