// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(convert-graph-to-linalg{keep-signature=true}))' | FileCheck --check-prefix=KEEP %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(convert-graph-to-linalg{keep-signature=true}),func.func(convert-graph-to-linalg))' | FileCheck %s

// Functions may be lowered one after the other: until all are, types at their borders stay.
// KEEP-LABEL: func.func @callee(%arg0: tensor<4xui8>) -> tensor<4xui8>
// KEEP-NEXT: %[[X:.*]] = builtin.unrealized_conversion_cast %arg0 : tensor<4xui8> to tensor<4xi8>
// KEEP: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]]
// KEEP: %[[R:.*]] = builtin.unrealized_conversion_cast %[[Y]] : tensor<4xi8> to tensor<4xui8>
// KEEP-NEXT: return %[[R]]
// CHECK-LABEL: func.func @callee(%arg0: tensor<4xi8> {phl.dtype = "uint8"}) -> (tensor<4xi8> {phl.dtype = "uint8"})
// CHECK-NOT: unrealized_conversion_cast
func.func @callee(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = graph.add %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// KEEP-LABEL: func.func @caller(%arg0: tensor<4xui8>)
// KEEP: %[[C:.*]] = call @callee({{.*}}) : (tensor<4xui8>) -> tensor<4xui8>
// KEEP-NEXT: builtin.unrealized_conversion_cast %[[C]] : tensor<4xui8> to tensor<4xi8>
// CHECK-LABEL: func.func @caller(%arg0: tensor<4xi8>
// CHECK: call @callee({{.*}}) : (tensor<4xi8>) -> tensor<4xi8>
// CHECK-NOT: unrealized_conversion_cast
func.func @caller(%x: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xui8>) {
  %0 = graph.add %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %1 = call @callee(%0) : (tensor<4xui8>) -> tensor<4xui8>
  %2 = graph.add %1, %0 : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %2, %x : tensor<4xui8>, tensor<4xui8>
}
