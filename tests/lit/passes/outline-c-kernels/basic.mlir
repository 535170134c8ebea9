// RUN: phaseline-opt %s --outline-c-kernels="headers=gpu.h emit={math.exp f32 native_exp(\$0)}" | FileCheck %s

// The kernel is a text, each launch a function that is given the buffers; equal ones are one.
// CHECK: phl.c_kernels = "#include {{.*}}#include \22gpu.h\22\0A
// CHECK-SAME: int32_t phl_launch_0(void *device, const float *in0, float *out0) {
// CHECK-SAME: if ((status = gpu_run(device, \22net_gpu_kernel0\22, (const size_t[]){4, 1, 1}
// CHECK-SAME: (const void *const[]){in0, out0}, 2)) != 0) return status;
// CHECK-NOT: phl_launch_1
// CHECK-SAME: const size_t net_gpu_kernels_count = 2;
// CHECK-SAME: __kernel void net_gpu_kernel0(__global char *base0, const ulong offset0,
// CHECK-SAME: native_exp(
module attributes {phl.model = "net", phl.target = "gpu"} {
  // CHECK-LABEL: func.func @net_gpu_0
  // CHECK: tir.call_extern @phl_launch_0 ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {returns_status, with_device}
  // CHECK: tir.call_extern @phl_launch_0 ins(%arg1 : memref<4xf32>) outs(%arg2 : memref<4xf32>)
  // CHECK-NOT: net_gpu_kernel0
  func.func @net_gpu_0(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) attributes {phl.target = "gpu"} {
    tir.call_extern @gpu_run ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
        {accumulate, phl.grid = array<i64: 4, 1, 1>, phl.launch = "net_gpu_kernel0", returns_status, with_device}
    tir.call_extern @gpu_run ins(%y : memref<4xf32>) outs(%z : memref<4xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
        {accumulate, phl.grid = array<i64: 4, 1, 1>, phl.launch = "net_gpu_kernel0", returns_status, with_device}
    return
  }
  func.func private @net_gpu_kernel0(%x: memref<4xf32>, %y: memref<4xf32>) attributes {phl.launched, phl.target = "gpu"} {
    %i = gpu.global_id x
    %0 = memref.load %x[%i] : memref<4xf32>
    %1 = math.exp %0 : f32
    memref.store %1, %y[%i] : memref<4xf32>
    return
  }
}
