//===- GraphQuant.td - Linear quantization ------------------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_QUANT_TD
#define PHASELINE_GRAPH_QUANT_TD

include "graph/GraphBase.td"

defvar Graph_QuantFormat = [{
  (`axis` `=` $axis^)? (`block_size` `=` $block_size^)?
}];

def Graph_QuantizeLinearOp : Graph_Op<"quantize_linear"> {
  let summary = "Linear quantization";
  let description = [{
    Computes `y = saturate(round(x / scale) + zero_point)`, ties to even. The
    shape of scale and zero_point is none (one for all), or `[D]` (one for each
    position along `axis`, whose size is D). With `block_size` it is the shape
    of x but for `axis`, where each stands for `block_size` elements.

    y has the element type of zero_point; without one it is `to`, or if that is
    absent too ui8, and zero_point is 0.

    ONNX `QuantizeLinear` (opset 23), `to` is its `output_dtype`.

    Example:

    ```mlir
    %y = graph.quantize_linear %x, %scale, %zero_point
        : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_NumberTensor:$scale,
                       Optional<Graph_QuantTensor>:$zero_point,
                       Graph_I64<1>:$axis, Graph_I64<0>:$block_size,
                       OptionalAttr<TypeAttr>:$to, Graph_True:$saturate);
  let results = (outs Graph_QuantTensor:$y);
  let format = !strconcat("$x `,` $scale (`,` $zero_point^)? ",
      Graph_QuantFormat, "(`to` `=` $to^)? (`saturate` `=` $saturate^)?");
}

def Graph_DequantizeLinearOp : Graph_Op<"dequantize_linear"> {
  let summary = "Real numbers of linearly quantized ones";
  let description = [{
    Computes `y = (x - zero_point) * scale`; an absent zero_point is 0. Shapes
    are as in `graph.quantize_linear`. y has the element type of scale.

    ONNX `DequantizeLinear` (opset 23).

    Example:

    ```mlir
    %y = graph.dequantize_linear %x, %scale, %zero_point
        : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_QuantTensor:$x, Graph_FloatTensor:$scale,
                       Optional<Graph_QuantTensor>:$zero_point,
                       Graph_I64<1>:$axis, Graph_I64<0>:$block_size);
  let results = (outs Graph_FloatTensor:$y);
  let format = !strconcat("$x `,` $scale (`,` $zero_point^)? ",
                           Graph_QuantFormat);
}

def Graph_LookupOp : Graph_Op<"lookup"> {
  let summary = "Elements of a table at the places that bytes say";
  let description = [{
    Computes `y = table[x]` for each element, where the bits of x count without
    a sign: -1 of type i8 is place 255. `table` has 256 elements. Any function
    from bytes to bytes is one, such as an activation between a dequantization
    and a quantization.

    Example:

    ```mlir
    %y = graph.lookup %x, %table : (tensor<2x3xui8>, tensor<256xi8>) -> tensor<2x3xi8>
    ```
  }];
  let arguments = (ins Graph_Int8Tensor:$x, Graph_Int8Tensor:$table);
  let results = (outs Graph_Int8Tensor:$y);
  let format = "$x `,` $table";
}

def Graph_DynamicQuantizeLinearOp : Graph_Op<"dynamic_quantize_linear"> {
  let summary = "Linear quantization by the range of the numbers";
  let description = [{
    Quantizes x to ui8 with the scale and zero point its range calls for:
    `y_scale = (max(x, 0) - min(x, 0)) / 255`,
    `y_zero_point = saturate(round(-min(x, 0) / y_scale))`, both scalars, and
    `y = saturate(round(x / y_scale) + y_zero_point)`.

    ONNX `DynamicQuantizeLinear` (opset 11).

    Example:

    ```mlir
    %y, %scale, %zero_point = graph.dynamic_quantize_linear %x
        : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
    ```
  }];
  let arguments = (ins Graph_F32Tensor:$x);
  let results = (outs Graph_UI8Tensor:$y, Graph_F32Tensor:$y_scale,
                      Graph_UI8Tensor:$y_zero_point);
}

def Graph_QLinearConvOp : Graph_Op<"qlinear_conv"> {
  let image = "x";
  let weights = "w";
  let flops = "2 * self.y.size * self.w.size / self.w.shape[0]";
  let summary = "Convolution of quantized tensors";
  let description = [{
    `graph.conv` on quantized tensors: x and w are dequantized, convolved, and
    quantized to y. Each tensor t comes with its `t_scale` and `t_zero_point`:
    scalars for x and y, scalars or `[M]` for w. The bias b `[M]` is i32 with
    scale `x_scale * w_scale` and zero point 0. The element type of y is that of
    y_zero_point.

    ONNX `QLinearConv` (opset 10), with `auto_pad` resolved to `pads`.

    Example:

    ```mlir
    %y = graph.qlinear_conv %x, %xs, %xz, %w, %ws, %wz, %ys, %yz
        : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>,
           tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x3x3xui8>
    ```
  }];
  let arguments = (ins
      Graph_Int8Tensor:$x, Graph_F32Tensor:$x_scale,
      Graph_Int8Tensor:$x_zero_point, Graph_Int8Tensor:$w,
      Graph_F32Tensor:$w_scale, Graph_Int8Tensor:$w_zero_point,
      Graph_F32Tensor:$y_scale, Graph_Int8Tensor:$y_zero_point,
      Optional<Graph_I32Tensor>:$b, Graph_I64s:$strides, Graph_I64s:$pads,
      Graph_I64s:$dilations, Graph_I64<1>:$group);
  let results = (outs Graph_Int8Tensor:$y);
  let format = [{
    $x `,` $x_scale `,` $x_zero_point `,` $w `,` $w_scale `,` $w_zero_point `,`
    $y_scale `,` $y_zero_point (`,` $b^)?
    (`strides` `=` $strides^)? (`pads` `=` $pads^)?
    (`dilations` `=` $dilations^)? (`group` `=` $group^)?
  }];
}

def Graph_QLinearMatMulOp : Graph_Op<"qlinear_matmul"> {
  let weights = "b";
  let flops = "2 * self.y.size * self.a.shape[self.a.rank - 1]";
  let summary = "Product of quantized matrices";
  let description = [{
    `graph.matmul` on quantized tensors: a and b are dequantized, multiplied, and
    quantized to y. Each tensor t comes with its `t_scale` and `t_zero_point`:
    scalars, or one per row of a or y, or one per column of b. The element type
    of y is that of y_zero_point.

    ONNX `QLinearMatMul` (opset 21).

    Example:

    ```mlir
    %y = graph.qlinear_matmul %a, %as, %az, %b, %bs, %bz, %ys, %yz
        : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>,
           tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
    ```
  }];
  let arguments = (ins
      Graph_Quant8Tensor:$a, Graph_FloatTensor:$a_scale,
      Graph_Quant8Tensor:$a_zero_point, Graph_Quant8Tensor:$b,
      Graph_FloatTensor:$b_scale, Graph_Quant8Tensor:$b_zero_point,
      Graph_FloatTensor:$y_scale, Graph_Quant8Tensor:$y_zero_point);
  let results = (outs Graph_Quant8Tensor:$y);
}

def Graph_MatMulIntegerOp : Graph_Op<"matmul_integer",
                                     [AttrSizedOperandSegments]> {
  let weights = "b";
  let flops = "2 * self.y.size * self.a.shape[self.a.rank - 1]";
  let summary = "Product of matrices of integers less their zero points";
  let description = [{
    `graph.matmul` of `a - a_zero_point` and `b - b_zero_point` in i32. An absent
    zero point is 0; else it is a scalar, or one per row of a or per column of b.

    ONNX `MatMulInteger` (opset 10).

    Example:

    ```mlir
    %y = graph.matmul_integer %a, %b a_zero_point %z
        : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>) -> tensor<2x4xi32>
    ```
  }];
  let arguments = (ins Graph_Int8Tensor:$a, Graph_Int8Tensor:$b,
                       Optional<Graph_Int8Tensor>:$a_zero_point,
                       Optional<Graph_Int8Tensor>:$b_zero_point);
  let results = (outs Graph_I32Tensor:$y);
  let format = [{
    $a `,` $b (`a_zero_point` $a_zero_point^)? (`b_zero_point` $b_zero_point^)?
  }];
}

def Graph_ConvIntegerOp : Graph_Op<"conv_integer", [AttrSizedOperandSegments]> {
  let image = "x";
  let weights = "w";
  let flops = "2 * self.y.size * self.w.size / self.w.shape[0]";
  let summary = "Convolution of integers less their zero points";
  let description = [{
    `graph.conv` of `x - x_zero_point` and `w - w_zero_point` in i32; padding
    holds x_zero_point. An absent zero point is 0; that of x is a scalar, that of
    w a scalar or `[M]`.

    ONNX `ConvInteger` (opset 10), with `auto_pad` resolved to `pads`.

    Example:

    ```mlir
    %y = graph.conv_integer %x, %w x_zero_point %z
        : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xi8>, tensor<ui8>)
        -> tensor<1x4x3x3xi32>
    ```
  }];
  let arguments = (ins Graph_Int8Tensor:$x, Graph_Int8Tensor:$w,
                       Optional<Graph_Int8Tensor>:$x_zero_point,
                       Optional<Graph_Int8Tensor>:$w_zero_point,
                       Graph_I64s:$strides, Graph_I64s:$pads,
                       Graph_I64s:$dilations, Graph_I64<1>:$group);
  let results = (outs Graph_I32Tensor:$y);
  let format = [{
    $x `,` $w (`x_zero_point` $x_zero_point^)? (`w_zero_point` $w_zero_point^)?
    (`strides` `=` $strides^)? (`pads` `=` $pads^)?
    (`dilations` `=` $dilations^)? (`group` `=` $group^)?
  }];
}

#endif // PHASELINE_GRAPH_QUANT_TD
