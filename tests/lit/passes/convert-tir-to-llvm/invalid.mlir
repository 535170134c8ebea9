// RUN: phaseline-opt %s --convert-tir-to-llvm -verify-diagnostics

module attributes {phl.devices = ["dsp"], phl.model = "net"} {
  llvm.func @net_main(%x: !llvm.ptr {phl.io = "input"}) {
    %0 = builtin.unrealized_conversion_cast %x : !llvm.ptr to memref<4xf32>
    // expected-error @+1 {{passes the device of 'npu', which is not in phl.devices of the module}}
    tir.call_extern @net_part ins(%0 : memref<4xf32>) args [#tir.arg<ins 0>] {phl.device = "npu", with_device}
    llvm.return
  }
}
