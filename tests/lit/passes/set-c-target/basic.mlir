// RUN: phaseline-opt %s --pass-pipeline='builtin.module(set-c-target{device=npu_device headers=a.h:b.h})' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: phaseline compile %t.mlir --from=codegen --emit=c | FileCheck %s --check-prefix=C

// The printed file includes the headers, and names the device's type where a device is used.

// CHECK: module attributes {
// CHECK-SAME: phl.c_device = "npu_device"
// CHECK-SAME: phl.c_headers = ["a.h", "b.h"]

// C: #include "a.h"
// C-NEXT: #include "b.h"
// C: int32_t reset(void *handle) {
// C-NEXT: npu_device *const device = handle;
// C-NEXT: npu_reset(device);
func.func @reset() {
  tir.call_extern @npu_reset args [] {with_device}
  return
}
