//===- GraphShape.td - Constants and ops on shapes ----------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_SHAPE_TD
#define PHASELINE_GRAPH_SHAPE_TD

include "graph/GraphBase.td"
include "mlir/IR/OpAsmInterface.td"


let hasFolder = 1 in {

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Constant tensor";
  let description = [{
    The tensor `value`: `dense` for small ones, a `dense_resource` blob for
    weights, which is neither copied nor uniqued.

    ONNX `Constant` (opset 24), and initializers.

    Example:

    ```mlir
    %y = graph.constant dense<[1, 2]> : tensor<2xi64>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "attr-dict custom<ConstantValue>($value, type($y))";
}

def Graph_ShapeOp : Graph_Op<"shape"> {
  let cost = 0;
  let summary = "Sizes of the dimensions of a tensor";
  let description = [{
    The sizes of the dimensions of x from `start` up to but without `end`, as
    i64. Both count from the last dimension if negative and are clamped to the
    rank; an absent `end` is the rank.

    ONNX `Shape` (opset 24).

    Example:

    ```mlir
    %y = graph.shape %x start = 1 : (tensor<2x3x4xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64<0>:$start,
                       OptionalAttr<I64Attr>:$end);
  let results = (outs Graph_I64List:$y);
  let format = "$x (`start` `=` $start^)? (`end` `=` $end^)?";
}

def Graph_SizeOp : Graph_Op<"size"> {
  let cost = 0;
  let summary = "Number of elements of a tensor";
  let description = [{
    The number of elements of x, as an i64 scalar.

    ONNX `Size` (opset 24).

    Example:

    ```mlir
    %y = graph.size %x : (tensor<2x3x4xf32>) -> tensor<i64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_I64Tensor:$y);
}

def Graph_ReshapeOp : Graph_Op<"reshape"> {
  let view = 1;
  let summary = "Same elements in a shape that is computed";
  let description = [{
    The elements of x in row-major order with the sizes in `shape`. One size may
    be -1, which stands for what is left. A size 0 stands for that of x's
    dimension at the same position, or with `allowzero` for 0.

    ONNX `Reshape` (opset 24).

    Example:

    ```mlir
    %y = graph.reshape %x, %shape : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64List:$shape,
                       Graph_False:$allowzero);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $shape (`allowzero` `=` $allowzero^)?";
}

def Graph_FlattenOp : Graph_Op<"flatten"> {
  let view = 1;
  let summary = "Merging of dimensions into those of a matrix";
  let description = [{
    x as a matrix: the dimensions before `axis` make the rows, those from it on
    the columns.

    ONNX `Flatten` (opset 24).

    Example:

    ```mlir
    %y = graph.flatten %x axis = 2 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64<1>:$axis);
  let results = (outs Graph_Tensor:$y);
  let format = "$x (`axis` `=` $axis^)?";
}

def Graph_SqueezeOp : Graph_Op<"squeeze"> {
  let view = 1;
  let summary = "Removal of dimensions of size 1";
  let description = [{
    x without the dimensions `axes`, each of size 1.

    ONNX `Squeeze` (opset 24), with constant `axes`; absent ones are resolved to
    all dimensions of size 1.

    Example:

    ```mlir
    %y = graph.squeeze %x axes = [0] : (tensor<1x3xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `axes` `=` $axes";
}

def Graph_UnsqueezeOp : Graph_Op<"unsqueeze"> {
  let view = 1;
  let summary = "Insertion of dimensions of size 1";
  let description = [{
    x with dimensions of size 1 put in, so that they are at `axes` in the result.

    ONNX `Unsqueeze` (opset 24), with constant `axes`.

    Example:

    ```mlir
    %y = graph.unsqueeze %x axes = [0] : (tensor<3xf32>) -> tensor<1x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `axes` `=` $axes";
}

def Graph_TransposeOp : Graph_Op<"transpose"> {
  let summary = "Permutation of dimensions";
  let description = [{
    x with its dimensions reordered: dimension i of y is dimension `perm[i]` of
    x.

    ONNX `Transpose` (opset 24), with an absent `perm` resolved.

    Example:

    ```mlir
    %y = graph.transpose %x perm = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `perm` `=` $perm";
}

def Graph_PackOp : Graph_Op<"pack"> {
  let summary = "Dimensions in blocks";
  let description = [{
    x with its dimensions cut into blocks and reordered. Part i of y is of
    dimension `dims[i]` of x. Where i is in `inner`, it is the place in a block
    of `blocks[i]` positions, else the number of the block. `blocks[i]` is 1 for
    an unblocked dimension. Blocks that are not full are filled with zeros. The
    parts, row-major, are of the form `shape`, in which neighbours may be one.

    As `linalg.pack`, with the places in blocks anywhere.

    Example:

    ```mlir
    // nchw in blocks of 4 channels
    %y = graph.pack %x dims = [0, 1, 2, 3, 1] blocks = [1, 4, 1, 1, 4] inner = [4] shape = [1, 2, 5, 5, 4] : (tensor<1x6x5x5xf32>) -> tensor<1x2x5x5x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims,
                       DenseI64ArrayAttr:$blocks, DenseI64ArrayAttr:$inner,
                       DenseI64ArrayAttr:$shape);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `dims` `=` $dims `blocks` `=` $blocks `inner` `=` $inner "
               # "`shape` `=` $shape";
}

def Graph_UnpackOp : Graph_Op<"unpack"> {
  let summary = "Dimensions from blocks";
  let description = [{
    The tensor of the form `shape` of which `graph.pack` with the same `dims`,
    `blocks` and `inner` makes x, whatever fills up blocks that are not full.

    As `linalg.unpack`, with the places in blocks anywhere.

    Example:

    ```mlir
    %y = graph.unpack %x dims = [0, 1, 2, 3, 1] blocks = [1, 4, 1, 1, 4] inner = [4] shape = [1, 6, 5, 5] : (tensor<1x2x5x5x4xf32>) -> tensor<1x6x5x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims,
                       DenseI64ArrayAttr:$blocks, DenseI64ArrayAttr:$inner,
                       DenseI64ArrayAttr:$shape);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `dims` `=` $dims `blocks` `=` $blocks `inner` `=` $inner "
               # "`shape` `=` $shape";
}

def Graph_ExpandOp : Graph_Op<"expand"> {
  let summary = "Broadcast to a shape";
  let description = [{
    x broadcast to the shape that x's shape and `shape` broadcast to; a
    dimension of x may thus be larger than the one asked for.

    ONNX `Expand` (opset 13).

    Example:

    ```mlir
    %y = graph.expand %x, %shape : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<2x?xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64List:$shape);
  let results = (outs Graph_Tensor:$y);
}

def Graph_TileOp : Graph_Op<"tile"> {
  let summary = "Repetition along each dimension";
  let description = [{
    x repeated `repeats[i]` times along each dimension i.

    ONNX `Tile` (opset 13).

    Example:

    ```mlir
    %y = graph.tile %x, %repeats : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64List:$repeats);
  let results = (outs Graph_Tensor:$y);
}

def Graph_RangeOp : Graph_Op<"range"> {
  let summary = "Numbers at equal distances";
  let description = [{
    The numbers start, start + delta, ... that are less than limit, or greater
    if delta is negative: `max(ceil((limit - start) / delta), 0)` elements. The
    operands are scalars.

    ONNX `Range` (opset 11).

    Example:

    ```mlir
    %y = graph.range %start, %limit, %delta
        : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$start, Graph_NumberTensor:$limit,
                       Graph_NumberTensor:$delta);
  let results = (outs Graph_NumberTensor:$y);
}

def Graph_ConstantOfShapeOp : Graph_Op<"constant_of_shape"> {
  let summary = "Tensor of equal elements in a shape that is computed";
  let description = [{
    A tensor with the sizes in `shape`, each element of which is the one element
    of `value`.

    ONNX `ConstantOfShape` (opset 24), with an absent `value` resolved to f32 0.

    Example:

    ```mlir
    %y = graph.constant_of_shape %shape value = dense<0> : tensor<1xi64>
        : (tensor<2xi64>) -> tensor<?x?xi64>
    ```
  }];
  let arguments = (ins Graph_I64List:$shape, ElementsAttr:$value);
  let results = (outs Graph_Tensor:$y);
  let format = "$shape `value` `=` $value";
}

} // hasFolder

def Graph_EyeLikeOp : Graph_Op<"eye_like"> {
  let summary = "Identity matrix, maybe with its diagonal moved";
  let description = [{
    A matrix with the shape of x, 1 on the diagonal `k` columns right of the main
    one (left if negative) and 0 elsewhere. Its element type is `to`, or x's.

    ONNX `EyeLike` (opset 22), `to` is its `dtype`.

    Example:

    ```mlir
    %y = graph.eye_like %x k = 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64<0>:$k,
                       OptionalAttr<TypeAttr>:$to);
  let results = (outs Graph_Tensor:$y);
  let format = "$x (`k` `=` $k^)? (`to` `=` $to^)?";
}

def Graph_DepthToSpaceOp : Graph_Op<"depth_to_space"> {
  let summary = "Blocks of channels moved to spatial dimensions";
  let description = [{
    Moves blocks of channels of x `[N, C, H, W]` to space, giving
    `[N, C / b^2, H * b, W * b]` for `blocksize` b. `mode` tells which part of a
    channel index is the block: the depth comes last in "DCR" (channel
    `(bh * b + bw) * C / b^2 + c`), first in "CRD" (`(c * b + bh) * b + bw`).

    ONNX `DepthToSpace` (opset 13).

    Example:

    ```mlir
    %y = graph.depth_to_space %x blocksize = 2
        : (tensor<1x8x2x4xf32>) -> tensor<1x2x4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$blocksize,
                       Graph_Choice<["DCR", "CRD"]>:$mode);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `blocksize` `=` $blocksize (`mode` `=` $mode^)?";
}

def Graph_SpaceToDepthOp : Graph_Op<"space_to_depth"> {
  let summary = "Spatial blocks moved to channels";
  let description = [{
    Moves spatial blocks of x `[N, C, H, W]` to channels, giving
    `[N, C * b^2, H / b, W / b]` for `blocksize` b; the inverse of
    `graph.depth_to_space` in mode "DCR".

    ONNX `SpaceToDepth` (opset 13).

    Example:

    ```mlir
    %y = graph.space_to_depth %x blocksize = 2
        : (tensor<1x8x2x4xf32>) -> tensor<1x32x1x2xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$blocksize);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `blocksize` `=` $blocksize";
}

#endif // PHASELINE_GRAPH_SHAPE_TD
