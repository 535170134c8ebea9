// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-sessions{target=dsp session=true activate=on deactivate=off},assign-sessions{target=npu activate=begin when=region})' | FileCheck %s

// Around an inference the module says it; around a region each function that no other of the device calls.
// CHECK: module attributes {phl.contexts = ["dsp"]}
module {
  // CHECK: @dsp_0() attributes {phl.session, phl.target = "dsp"}
  func.func private @dsp_0() attributes {phl.target = "dsp"} {
    return
  }
  // CHECK: @npu_0() attributes {phl.activate = "begin", phl.target = "npu"}
  func.func private @npu_0() attributes {phl.target = "npu"} {
    tir.call_extern @npu_0_part args [] {with_device}
    return
  }
  // CHECK: @npu_0_part() attributes {phl.target = "npu"}
  func.func private @npu_0_part() attributes {phl.target = "npu"} {
    return
  }
  // CHECK: @main
  // CHECK: @dsp_0 args [] {phl.device = "dsp", phl.session, returns_status, with_device}
  // CHECK: @npu_0 args [] {phl.device = "npu", returns_status, with_device}
  func.func @main() attributes {phl.target = "llvm"} {
    tir.call_extern @dsp_0 args [] {with_device, returns_status, phl.device = "dsp"}
    tir.call_extern @npu_0 args [] {with_device, returns_status, phl.device = "npu"}
    return
  }
}
