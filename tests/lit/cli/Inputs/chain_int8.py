"""A chain of quantized layers: chain_int8.py LAYERS ROWS WIDTH, as IR."""

import sys

layers, rows, width = map(int, sys.argv[1:])
image = f"tensor<{rows}x{width}xi8>"
real = image.replace("i8", "f32")
print(f"func.func @main(%q0: {image}) -> {image} {{")
print("  %s = graph.constant dense<0.0625> : tensor<f32>")
print("  %sw = graph.constant dense<0.03125> : tensor<f32>")
print("  %z = graph.constant dense<-3> : tensor<i8>")
print("  %zw = graph.constant dense<0> : tensor<i8>")
for layer in range(layers):
    weights = [[(5 * row + 3 * column + layer) % 11 - 5 for column in range(width)] for row in range(width)]
    kernel = f"tensor<{width}x{width}xi8>"
    print(f"  %w{layer} = graph.constant dense<{weights}> : {kernel}")
    print(f"  %x{layer} = graph.dequantize_linear %q{layer}, %s, %z : ({image}, tensor<f32>, tensor<i8>) -> {real}")
    print(f"  %d{layer} = graph.dequantize_linear %w{layer}, %sw, %zw : ({kernel}, tensor<f32>, tensor<i8>) -> {kernel.replace('i8', 'f32')}")
    print(f"  %v{layer} = graph.gemm %x{layer}, %d{layer} {{trans_b = true}} : ({real}, {kernel.replace('i8', 'f32')}) -> {real}")
    print(f"  %q{layer + 1} = graph.quantize_linear %v{layer}, %s, %z : ({real}, tensor<f32>, tensor<i8>) -> {image}")
print(f"  return %q{layers} : {image}")
print("}")
