// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=prepare-quantized,quantize-parts}))' | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=prepare-quantized}))' | FileCheck %s --check-prefix=AS-IS

// Each part is quantized where it is computed; the one that has these parameters already stays as it is.
// CHECK-LABEL: func.func @join(
// CHECK-SAME: %[[X:.*]]: tensor<1x2xi8>, %[[Y:.*]]: tensor<1x3xi8>, %[[Z:.*]]: tensor<1x4xf32>
// CHECK: %[[A:.*]] = graph.dequantize_linear %[[Y]]
// CHECK: %[[B:.*]] = graph.quantize_linear %[[A]], %{{.*}} -> tensor<1x3xi8>
// CHECK: %[[C:.*]] = graph.quantize_linear %[[Z]], %{{.*}} -> tensor<1x4xi8>
// CHECK: %[[J:.*]] = graph.concat %[[X]], %[[B]], %[[C]] axis = 1
// CHECK-SAME: -> tensor<1x9xi8>
// CHECK-NEXT: return %[[J]]
// AS-IS: graph.concat {{.*}} -> tensor<1x9xf32>
func.func @join(%x: tensor<1x2xi8>, %y: tensor<1x3xi8>, %z: tensor<1x4xf32>) -> tensor<1x9xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<0.25> : tensor<f32>
  %o = graph.constant dense<3> : tensor<i8>
  %a = graph.dequantize_linear %x, %s, %o : (tensor<1x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2xf32>
  %b = graph.dequantize_linear %y, %t, %o : (tensor<1x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3xf32>
  %j = graph.concat %a, %b, %z axis = 1 : (tensor<1x2xf32>, tensor<1x3xf32>, tensor<1x4xf32>) -> tensor<1x9xf32>
  %q = graph.quantize_linear %j, %s, %o : (tensor<1x9xf32>, tensor<f32>, tensor<i8>) -> tensor<1x9xi8>
  return %q : tensor<1x9xi8>
}

// Values that are read as floats, too, are concatenated as floats.
// CHECK-LABEL: func.func @both
// CHECK: graph.concat {{.*}} -> tensor<1x6xf32>
func.func @both(%x: tensor<1x2xf32>, %y: tensor<1x4xf32>) -> (tensor<1x6xf32>, tensor<1x6xui8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %j = graph.concat %x, %y axis = 1 : (tensor<1x2xf32>, tensor<1x4xf32>) -> tensor<1x6xf32>
  %q = graph.quantize_linear %j, %s : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xui8>
  return %j, %q : tensor<1x6xf32>, tensor<1x6xui8>
}
