// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(separate-readers{group=1}))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(separate-readers))' | FileCheck %s --check-prefix=WHOLE
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-functions-to-dps, func.func(separate-readers{group=1}, eliminate-empty-tensors), one-shot-bufferize, func.func(canonicalize))' | FileCheck %s --check-prefix=BUFFER

// Three operations read %v, and the last writes over it. Each group reads it by another name, and %v
// counts as read after the group. WHOLE has too few of them.
// WHOLE-NOT: to_buffer
// CHECK-LABEL: func.func @written_over_last
// CHECK: %[[V:.*]] = linalg.negf
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[V]] read_only
// CHECK-NEXT: %[[R:.*]] = bufferization.to_tensor %[[B]] restrict
// CHECK-NEXT: linalg.abs ins(%[[R]] :
// CHECK-NEXT: bufferization.to_buffer %[[V]] read_only
// CHECK: linalg.sub ins(%{{.*}}, %[[R2:.*]] :
// CHECK-NEXT: bufferization.to_buffer %[[V]] read_only
// CHECK: linalg.sub ins(%{{.*}}, %[[R3:.*]] :
// CHECK-NEXT: bufferization.to_buffer %[[V]] read_only
// CHECK: linalg.add {{.*}} outs(%[[V]] :

// In buffers nothing is left of it: no copies, and what came last still writes over %v.
// BUFFER-LABEL: func.func @written_over_last
// BUFFER-NOT: copy
// BUFFER: linalg.negf {{.*}} outs(%[[V:.*]] :
// BUFFER-NOT: copy
// BUFFER: linalg.sub ins(%{{.*}}, %[[V]] :
// BUFFER: linalg.sub ins(%{{.*}}, %[[V]] :
// BUFFER-NOT: copy
// BUFFER: linalg.add {{.*}} outs(%[[V]] :
func.func @written_over_last(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>) {
  %e = tensor.empty() : tensor<3x3xf32>
  %v = linalg.negf ins(%x : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e1 = tensor.empty() : tensor<3x3xf32>
  %a = linalg.abs ins(%v : tensor<3x3xf32>) outs(%e1 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e2 = tensor.empty() : tensor<3x3xf32>
  %b = linalg.sub ins(%a, %v : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e2 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e3 = tensor.empty() : tensor<3x3xf32>
  %c = linalg.sub ins(%b, %v : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e3 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %d = linalg.add ins(%c, %c : tensor<3x3xf32>, tensor<3x3xf32>) outs(%v : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %d : tensor<3x3xf32>
}

// One writes over it between its readers: the readers behind it see what was there before.
// BUFFER-LABEL: func.func @written_over_between
// BUFFER: linalg.negf {{.*}} outs(%[[V:.*]] :
// BUFFER: linalg.abs ins(%[[V]] :
// BUFFER-NOT: linalg.add {{.*}} outs(%[[V]] :
// BUFFER: linalg.add
// BUFFER: linalg.sub ins(%{{.*}}, %[[V]] :
// BUFFER: linalg.sub ins(%{{.*}}, %[[V]] :
func.func @written_over_between(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>) {
  %e = tensor.empty() : tensor<3x3xf32>
  %v = linalg.negf ins(%x : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e1 = tensor.empty() : tensor<3x3xf32>
  %a = linalg.abs ins(%v : tensor<3x3xf32>) outs(%e1 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %d = linalg.add ins(%a, %a : tensor<3x3xf32>, tensor<3x3xf32>) outs(%v : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e2 = tensor.empty() : tensor<3x3xf32>
  %b = linalg.sub ins(%d, %v : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e2 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e3 = tensor.empty() : tensor<3x3xf32>
  %c = linalg.sub ins(%b, %v : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e3 : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %c : tensor<3x3xf32>
}
