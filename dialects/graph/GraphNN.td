//===- GraphNN.td - Convolution, pooling, norms, products ---*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_NN_TD
#define PHASELINE_GRAPH_NN_TD

include "graph/GraphBase.td"

defvar Graph_WindowFormat = [{
  (`strides` `=` $strides^)? (`pads` `=` $pads^)?
  (`dilations` `=` $dilations^)?
}];

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

def Graph_ConvOp : Graph_Op<"conv"> {
  let image = "x";
  let weights = "w";
  let flops = "2 * self.y.size * self.w.size / self.w.shape[0]";
  let summary = "Convolution over any number of spatial dimensions";
  let description = [{
    Correlates x `[N, C, D1, ..., Dn]` with the filters w
    `[M, C / group, K1, ..., Kn]`, n >= 1, and adds the bias b `[M]`. With
    `group` g, the i-th of g equal slices of C meets the i-th of g equal slices
    of M only.

    `pads` lists the zeros before each spatial dimension, then those after each.
    Result dimension i is
    `floor((Di + begin + end - dilation * (Ki - 1) - 1) / stride) + 1`.

    ONNX `Conv` (opset 22), with `auto_pad` resolved to `pads` and `kernel_shape`
    read off w.

    Example:

    ```mlir
    %y = graph.conv %x, %w, %b strides = [2, 2] pads = [1, 1, 1, 1]
        : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>)
        -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$w,
                       Optional<Graph_FloatTensor>:$b, Graph_I64s:$strides,
                       Graph_I64s:$pads, Graph_I64s:$dilations,
                       Graph_I64<1>:$group);
  let results = (outs Graph_FloatTensor:$y);
  let format = !strconcat("$x `,` $w (`,` $b^)? ", Graph_WindowFormat,
                           "(`group` `=` $group^)?");
}

def Graph_ConvTransposeOp : Graph_Op<"conv_transpose"> {
  let image = "x";
  let weights = "w";
  let flops = "2 * self.x.size * self.w.size / self.w.shape[0]";
  let summary = "Transposed convolution";
  let description = [{
    The transpose of `graph.conv` with respect to its first operand: spreads x
    `[N, C, D1, ..., Dn]` through the filters w `[C, M / group, K1, ..., Kn]` and
    adds the bias b `[M]`.

    `pads` are cut off the result; `output_padding` is added to its far ends.
    Result dimension i is `stride * (Di - 1) + output_padding +
    dilation * (Ki - 1) + 1 - begin - end`.

    ONNX `ConvTranspose` (opset 22), with `auto_pad` and `output_shape` resolved
    to `pads` and `kernel_shape` read off w.

    Example:

    ```mlir
    %y = graph.conv_transpose %x, %w strides = [2, 2]
        : (tensor<1x4x5x5xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x10x10xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$w,
                       Optional<Graph_FloatTensor>:$b, Graph_I64s:$strides,
                       Graph_I64s:$pads, Graph_I64s:$dilations,
                       Graph_I64<1>:$group, Graph_I64s:$output_padding);
  let results = (outs Graph_FloatTensor:$y);
  let format = !strconcat("$x `,` $w (`,` $b^)? ", Graph_WindowFormat,
      "(`group` `=` $group^)? (`output_padding` `=` $output_padding^)?");
}

def Graph_Col2ImOp : Graph_Op<"col2im"> {
  let flops = "self.x.size";
  let summary = "Images of overlapping patches";
  let description = [{
    The sums of patches where they lie in images. Windows of `kernel_shape` slide
    over images `[N, C, image_shape...]` as those of pools do. Column l of x
    `[N, C * product(kernel_shape), L]` has the elements of window l. Each is
    added to the element of the image that it covers. Elements in the padding
    are left out.

    ONNX `Col2Im` (opset 18).

    Example:

    ```mlir
    %y = graph.col2im %x image_shape = [5, 6] kernel_shape = [2, 3]
        : (tensor<1x12x16xf32>) -> tensor<1x2x5x6xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, DenseI64ArrayAttr:$image_shape,
                       DenseI64ArrayAttr:$kernel_shape, Graph_I64s:$strides,
                       Graph_I64s:$pads, Graph_I64s:$dilations);
  let results = (outs Graph_NumberTensor:$y);
  let format = !strconcat("$x `image_shape` `=` $image_shape "
      "`kernel_shape` `=` $kernel_shape ", Graph_WindowFormat);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

class Graph_PoolOp<string mnemonic, string what, Type type, string onnx,
                   dag attributes, string keywords, string details> : Graph_Op<mnemonic> {
  let summary = what;
  string example = "%y = graph." # mnemonic # " %x kernel_shape = [2, 2] strides = [2, 2]\n"
      # "    : (tensor<1x8x4x6xf32>) -> tensor<1x8x2x3xf32>";
  let description = details # [{

    Windows of `kernel_shape` slide over the spatial dimensions of x
    `[N, C, D1, ..., Dn]`. `pads` lists the padding before each dimension, then
    after each. Result dimension i is
    `floor((Di + begin + end - dilation * (Ki - 1) - 1) / stride) + 1`, with
    `ceil_mode` the ceiling, less a last window that would start beyond the input
    and its begin padding.

    }] # "ONNX `" # onnx # "`, with `auto_pad` resolved to `pads`."
      # Graph_Example<example>.text;
  let arguments = !con((ins type:$x, DenseI64ArrayAttr:$kernel_shape,
                            Graph_I64s:$strides, Graph_I64s:$pads,
                            Graph_I64s:$dilations, Graph_False:$ceil_mode),
                       attributes);
  let results = (outs type:$y);
  let image = "x";
  let flops = "self.y.size * prod(self.kernel_shape)";
  let format = !strconcat("$x `kernel_shape` `=` $kernel_shape ",
      Graph_WindowFormat, "(`ceil_mode` `=` $ceil_mode^)?", keywords);
}

def Graph_MaxPoolOp : Graph_PoolOp<"max_pool", "Maximum of sliding windows",
    RankedTensorOf<!listconcat(Graph_Floats, [I8, UI8])>, "MaxPool (opset 22)",
    (ins), "", "The greatest element of each window; padding never wins.">;

def Graph_MaxPoolWithIndicesOp : Graph_PoolOp<"max_pool_with_indices", "Maximum of sliding windows, and where it is",
    RankedTensorOf<!listconcat(Graph_Floats, [I8, UI8])>, "MaxPool (opset 22)",
    (ins Graph_I64<0>:$storage_order),
    "(`storage_order` `=` $storage_order^)?", [{
    The greatest element of each window, as in `graph.max_pool`, and its index
    in x flattened to one dimension: row major, or with `storage_order = 1`
    column major in the spatial dimensions.}]> {
  let results = (outs
      RankedTensorOf<!listconcat(Graph_Floats, [I8, UI8])>:$y,
      Graph_I64Tensor:$indices);
  let example = "%y, %indices = graph.max_pool_with_indices %x kernel_shape = [2, 2]\n"
      # "    : (tensor<1x8x4x6xf32>) -> (tensor<1x8x3x5xf32>, tensor<1x8x3x5xi64>)";
}

def Graph_AveragePoolOp : Graph_PoolOp<"average_pool", "Mean of sliding windows", Graph_FloatTensor,
    "AveragePool (opset 22)", (ins Graph_False:$count_include_pad),
    "(`count_include_pad` `=` $count_include_pad^)?", [{
    The mean of each window: the sum of its elements inside x, divided by their
    number, or with `count_include_pad` by the number of its elements inside x
    or the padding.}]>;

def Graph_LpPoolOp : Graph_PoolOp<"lp_pool", "p-norm of sliding windows", Graph_FloatTensor,
    "LpPool (opset 22)", (ins Graph_I64<2>:$p), "(`p` `=` $p^)?",
    "The p-norm `(sum |x|^p)^(1 / p)` of each window.">;

class Graph_GlobalPoolOp<string mnemonic, string what, string onnx,
                         string fold, dag attributes = (ins), string keywords = "">
    : Graph_Op<mnemonic> {
  let summary = what;
  let description = fold # " over all spatial dimensions of x "
      # "`[N, C, D1, ..., Dn]`, giving `[N, C, 1, ..., 1]`.\n\n"
      # "ONNX `" # onnx # "`."
      # Graph_Example<"%y = graph." # mnemonic # " %x : "
          # "(tensor<1x8x4x6xf32>) -> tensor<1x8x1x1xf32>">.text;
  let arguments = !con((ins Graph_FloatTensor:$x), attributes);
  let results = (outs Graph_FloatTensor:$y);
  let format = "$x " # keywords;
}

def Graph_GlobalAveragePoolOp : Graph_GlobalPoolOp<"global_average_pool", "Mean of each channel",
    "GlobalAveragePool (opset 22)", "The mean">;
def Graph_GlobalMaxPoolOp : Graph_GlobalPoolOp<"global_max_pool", "Maximum of each channel",
    "GlobalMaxPool (opset 22)", "The greatest element">;
def Graph_GlobalLpPoolOp : Graph_GlobalPoolOp<"global_lp_pool", "p-norm of each channel",
    "GlobalLpPool (opset 22)", "The p-norm `(sum |x|^p)^(1 / p)`",
    (ins Graph_I64<2>:$p), "(`p` `=` $p^)?">;

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

def Graph_BatchNormOp : Graph_Op<"batch_norm"> {
  let summary = "Normalization of channels by given statistics";
  let description = [{
    Computes `y = (x - mean) / sqrt(var + epsilon) * scale + bias` for x
    `[N, C, ...]`, where scale, bias, mean and var are `[C]`.

    ONNX `BatchNormalization` (opset 15) with `training_mode = 0`.

    Example:

    ```mlir
    %y = graph.batch_norm %x, %scale, %bias, %mean, %var
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
           tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, Graph_FloatTensor:$mean,
                       Graph_FloatTensor:$var, Graph_F32<"1e-5">:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
  let format = "operands (`epsilon` `=` $epsilon^)?";
}

def Graph_InstanceNormOp : Graph_Op<"instance_norm"> {
  let summary = "Normalization of each channel of each instance";
  let description = [{
    Computes `y = (x - mean) / sqrt(var + epsilon) * scale + bias` for x
    `[N, C, D1, ..., Dn]`, with mean and variance taken over the spatial
    dimensions, for each instance and channel; scale and bias are `[C]`.

    ONNX `InstanceNormalization` (opset 22).

    Example:

    ```mlir
    %y = graph.instance_norm %x, %scale, %bias epsilon = 1.0e-3
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>)
        -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, Graph_F32<"1e-5">:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
  let format = "operands (`epsilon` `=` $epsilon^)?";
}

defvar Graph_LayerNormArgs = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
    Optional<Graph_FloatTensor>:$bias, Graph_I64<-1>:$axis,
    Graph_F32<"1e-5">:$epsilon);
defvar Graph_LayerNormFormat = [{
  $x `,` $scale (`,` $bias^)? (`axis` `=` $axis^)? (`epsilon` `=` $epsilon^)?
}];

def Graph_LayerNormOp : Graph_Op<"layer_norm"> {
  let summary = "Normalization over the last dimensions";
  let description = [{
    Computes `y = (x - mean) / sqrt(var + epsilon) * scale + bias`, with mean and
    variance taken over the dimensions from `axis` on. scale and bias broadcast
    to x. Statistics are computed in f32.

    ONNX `LayerNormalization` (opset 17), first result only.

    Example:

    ```mlir
    %y = graph.layer_norm %x, %scale, %bias
        : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = Graph_LayerNormArgs;
  let results = (outs Graph_FloatTensor:$y);
  let format = Graph_LayerNormFormat;
}

def Graph_LayerNormWithStatsOp : Graph_Op<"layer_norm_with_stats"> {
  let summary = "Normalization over the last dimensions, and its statistics";
  let description = [{
    `graph.layer_norm` that also gives the statistics: `mean` and
    `inv_std_dev = 1 / sqrt(var + epsilon)`, both f32 with the shape of x up to
    `axis` and size 1 from there on.

    ONNX `LayerNormalization` (opset 17).

    Example:

    ```mlir
    %y, %mean, %inv_std_dev = graph.layer_norm_with_stats %x, %scale
        : (tensor<2x8xf32>, tensor<8xf32>)
        -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    ```
  }];
  let arguments = Graph_LayerNormArgs;
  let results = (outs Graph_FloatTensor:$y, Graph_F32Tensor:$mean,
                      Graph_F32Tensor:$inv_std_dev);
  let format = Graph_LayerNormFormat;
}

def Graph_GroupNormOp : Graph_Op<"group_norm"> {
  let summary = "Normalization of groups of channels";
  let description = [{
    Computes `y = (x - mean) / sqrt(var + epsilon) * scale + bias` for x
    `[N, C, D1, ..., Dn]`, with mean and variance taken over each of `num_groups`
    equal slices of C and the spatial dimensions, for each instance. scale and
    bias are `[C]`.

    ONNX `GroupNormalization` (opset 21).

    Example:

    ```mlir
    %y = graph.group_norm %x, %scale, %bias num_groups = 2
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>)
        -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, I64Attr:$num_groups,
                       Graph_F32<"1e-5">:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
  let format = "operands `num_groups` `=` $num_groups "
                       # "(`epsilon` `=` $epsilon^)?";
}

def Graph_RmsNormOp : Graph_Op<"rms_norm"> {
  let summary = "Normalization by the root of the mean square";
  let description = [{
    Computes `y = x / sqrt(mean(x^2) + epsilon) * scale`, with the mean taken
    over the dimensions from `axis` on. scale broadcasts to x; y has its element
    type. The mean is computed in f32.

    ONNX `RMSNormalization` (opset 23).

    Example:

    ```mlir
    %y = graph.rms_norm %x, %scale : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale,
                       Graph_I64<-1>:$axis, Graph_F32<"1e-5">:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
  let format = "operands (`axis` `=` $axis^)? (`epsilon` `=` $epsilon^)?";
}

def Graph_LrnOp : Graph_Op<"lrn"> {
  let summary = "Local response normalization across channels";
  let description = [{
    Computes `y = x / (bias + alpha / size * s)^beta` for x `[N, C, ...]`, where
    s is the sum of x^2 over the channels from `c - floor((size - 1) / 2)` to
    `c + ceil((size - 1) / 2)`, those outside of x left out.

    ONNX `LRN` (opset 13).

    Example:

    ```mlir
    %y = graph.lrn %x size = 5 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, I64Attr:$size,
                       Graph_F32<"0.0001">:$alpha, Graph_F32<"0.75">:$beta,
                       Graph_F32<"1.0">:$bias);
  let results = (outs Graph_FloatTensor:$y);
  let format = "$x `size` `=` $size (`alpha` `=` $alpha^)? "
      # "(`beta` `=` $beta^)? (`bias` `=` $bias^)?";
}

// y has the type of x.
class Graph_UnaryNormOp<string mnemonic, string what, string onnx,
                        string details, dag attributes, string keywords> : Graph_Op<mnemonic> {
  let summary = what;
  string example = "%y = graph." # mnemonic # " %x axis = 1 : tensor<2x8x4xf32>";
  let description = details # "\n\nONNX `" # onnx # "`."
      # Graph_Example<example>.text;
  let arguments = !con((ins Graph_FloatTensor:$x), attributes);
  let results = (outs Graph_FloatTensor:$y);
  let inference =
      "inferAlongAxis(infer, adaptor.getX(), adaptor.getAxis(), types)";
  let assemblyFormat = "$x " # keywords
      # " attr-dict `:` custom<ElementwiseTypes>(type($x), type($y))";
}

def Graph_MeanVarianceNormOp : Graph_UnaryNormOp<"mean_variance_norm", "Normalization to mean 0 and variance 1 along axes",
    "MeanVarianceNormalization (opset 13)", [{
    Computes `y = (x - mean) / (sqrt(mean(x^2) - mean^2) + 1e-9)`, with both
    means taken over `axes`.}], (ins DenseI64ArrayAttr:$axes),
    "`axes` `=` $axes"> {
  let example = "%y = graph.mean_variance_norm %x axes = [0, 2] : tensor<2x8x4xf32>";
  let inference = "";
}

def Graph_LpNormOp : Graph_UnaryNormOp<"lp_norm", "Normalization to p-norm 1 along an axis", "LpNormalization (opset 22)",
    [{
    Computes `y = x / (sum |x|^p)^(1 / p)`, with the sum taken along `axis`, and
    y = 0 where the sum is 0. p is 1 or 2.}],
    (ins Graph_I64<-1>:$axis, Graph_I64<2>:$p),
    "(`axis` `=` $axis^)? (`p` `=` $p^)?">;

let cost = 15 in
def Graph_SoftmaxOp : Graph_UnaryNormOp<"softmax", "Normalized exponentials along an axis", "Softmax (opset 13)",
    "Computes `y = e^x / sum(e^x)`, with the sum taken along `axis`.",
    (ins Graph_I64<-1>:$axis), "(`axis` `=` $axis^)?">;
let cost = 15 in
def Graph_LogSoftmaxOp : Graph_UnaryNormOp<"log_softmax", "Logarithm of softmax along an axis",
    "LogSoftmax (opset 13)",
    "Computes `y = ln(e^x / sum(e^x))`, with the sum taken along `axis`.",
    (ins Graph_I64<-1>:$axis), "(`axis` `=` $axis^)?">;
def Graph_HardmaxOp : Graph_UnaryNormOp<"hardmax", "One-hot position of the greatest element along an axis", "Hardmax (opset 13)",
    "1 for the first greatest element along `axis`, 0 for all others.",
    (ins Graph_I64<-1>:$axis), "(`axis` `=` $axis^)?">;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Graph_GemmOp : Graph_Op<"gemm"> {
  let weights = "b";
  let flops = "2 * self.y.size * self.a.shape[select(self.trans_a, 0, 1)]";
  let summary = "Product of two matrices, scaled, plus a scaled tensor";
  let description = [{
    Computes `y = alpha * A * B + beta * c`, where A `[M, K]` is a, or its
    transpose with `trans_a`, B `[K, N]` is b, or its transpose with `trans_b`,
    and c broadcasts to `[M, N]`.

    ONNX `Gemm` (opset 13).

    Example:

    ```mlir
    %y = graph.gemm %a, %b, %c trans_b = true
        : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$a, Graph_NumberTensor:$b,
                       Optional<Graph_NumberTensor>:$c,
                       Graph_F32<"1.0">:$alpha, Graph_F32<"1.0">:$beta,
                       Graph_False:$trans_a, Graph_False:$trans_b);
  let results = (outs Graph_NumberTensor:$y);
  let format = [{
    $a `,` $b (`,` $c^)? (`alpha` `=` $alpha^)? (`beta` `=` $beta^)?
    (`trans_a` `=` $trans_a^)? (`trans_b` `=` $trans_b^)?
  }];
}

def Graph_MatMulOp : Graph_Op<"matmul"> {
  let weights = "b";
  let flops = "2 * self.y.size * self.a.shape[self.a.rank - 1]";
  let summary = "Product of matrices, with broadcasting";
  let description = [{
    Matrix product as of `numpy.matmul`: the last two dimensions are matrices,
    those before them broadcast. A one-dimensional a is a row, a one-dimensional
    b is a column, and the result lacks that dimension.

    ONNX `MatMul` (opset 13).

    Example:

    ```mlir
    %y = graph.matmul %a, %b
        : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$a, Graph_NumberTensor:$b);
  let results = (outs Graph_NumberTensor:$y);
}

def Graph_EinsumOp : Graph_Op<"einsum"> {
  let summary = "Sum of products in index notation";
  let description = [{
    Sum of products by index: `equation` gives one letter per dimension of each
    operand, comma separated, and after `->` those of the result. Letters that
    the result lacks are summed over. Without `->` the result has the letters
    that occur once, in alphabetical order. `...` stands for dimensions that
    broadcast.

    ONNX `Einsum` (opset 12).

    Example:

    ```mlir
    %y = graph.einsum "bij,bjk->bik", %a, %b
        : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_NumberTensor>:$inputs, StrAttr:$equation);
  let results = (outs Graph_NumberTensor:$y);
  let format = "$equation `,` $inputs";
}

#endif // PHASELINE_GRAPH_NN_TD
