//===- GraphShape.td - Constants and ops on shapes ----------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_SHAPE_TD
#define PHASELINE_GRAPH_SHAPE_TD

include "graph/GraphBase.td"
include "mlir/IR/OpAsmInterface.td"


let hasFolder = 1 in {

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "ONNX Constant (opset 24)";
  let description = [{
    The tensor `value`: `dense` for small ones, a `dense_resource` blob for
    weights, which is neither copied nor uniqued.

    ONNX `Constant` (opset 24), and initializers.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "attr-dict custom<ConstantValue>($value, type($y))";
}

def Graph_ShapeOp : Graph_Op<"shape"> {
  let cost = 0;
  let summary = "ONNX Shape (opset 24)";
  let description = [{
    The sizes of the dimensions of x from `start` up to but without `end`, as
    i64. Both count from the last dimension if negative and are clamped to the
    rank; an absent `end` is the rank.

    ONNX `Shape` (opset 24).
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64<0>:$start,
                       OptionalAttr<I64Attr>:$end);
  let results = (outs Graph_I64List:$y);
  let format = "$x (`start` `=` $start^)? (`end` `=` $end^)?";
}

def Graph_SizeOp : Graph_Op<"size"> {
  let cost = 0;
  let summary = "ONNX Size (opset 24)";
  let description = [{
    The number of elements of x, as an i64 scalar.

    ONNX `Size` (opset 24).
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_I64Tensor:$y);
}

def Graph_ReshapeOp : Graph_Op<"reshape"> {
  let view = 1;
  let summary = "ONNX Reshape (opset 24)";
  let description = [{
    The elements of x in row-major order with the sizes in `shape`. One size may
    be -1, which stands for what is left. A size 0 stands for that of x's
    dimension at the same position, or with `allowzero` for 0.

    ONNX `Reshape` (opset 24).
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64List:$shape,
                       Graph_False:$allowzero);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $shape (`allowzero` `=` $allowzero^)?";
}

def Graph_FlattenOp : Graph_Op<"flatten"> {
  let view = 1;
  let summary = "ONNX Flatten (opset 24)";
  let description = [{
    x as a matrix: the dimensions before `axis` make the rows, those from it on
    the columns.

    ONNX `Flatten` (opset 24).
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64<1>:$axis);
  let results = (outs Graph_Tensor:$y);
  let format = "$x (`axis` `=` $axis^)?";
}

def Graph_SqueezeOp : Graph_Op<"squeeze"> {
  let view = 1;
  let summary = "ONNX Squeeze (opset 24)";
  let description = [{
    x without the dimensions `axes`, each of size 1.

    ONNX `Squeeze` (opset 24), with constant `axes`; absent ones are resolved to
    all dimensions of size 1.
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `axes` `=` $axes";
}

def Graph_UnsqueezeOp : Graph_Op<"unsqueeze"> {
  let view = 1;
  let summary = "ONNX Unsqueeze (opset 24)";
  let description = [{
    x with dimensions of size 1 put in, so that they are at `axes` in the result.

    ONNX `Unsqueeze` (opset 24), with constant `axes`.
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `axes` `=` $axes";
}

def Graph_TransposeOp : Graph_Op<"transpose"> {
  let summary = "ONNX Transpose (opset 24)";
  let description = [{
    x with its dimensions reordered: dimension i of y is dimension `perm[i]` of
    x.

    ONNX `Transpose` (opset 24), with an absent `perm` resolved.
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `perm` `=` $perm";
}

def Graph_ExpandOp : Graph_Op<"expand"> {
  let summary = "ONNX Expand (opset 13)";
  let description = [{
    x broadcast to the shape that x's shape and `shape` broadcast to; a
    dimension of x may thus be larger than the one asked for.

    ONNX `Expand` (opset 13).
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64List:$shape);
  let results = (outs Graph_Tensor:$y);
}

def Graph_TileOp : Graph_Op<"tile"> {
  let summary = "ONNX Tile (opset 13)";
  let description = [{
    x repeated `repeats[i]` times along each dimension i.

    ONNX `Tile` (opset 13).
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64List:$repeats);
  let results = (outs Graph_Tensor:$y);
}

def Graph_RangeOp : Graph_Op<"range"> {
  let summary = "ONNX Range (opset 11)";
  let description = [{
    The numbers start, start + delta, ... that are less than limit, or greater
    if delta is negative: `max(ceil((limit - start) / delta), 0)` elements. The
    operands are scalars.

    ONNX `Range` (opset 11).
  }];
  let arguments = (ins Graph_NumberTensor:$start, Graph_NumberTensor:$limit,
                       Graph_NumberTensor:$delta);
  let results = (outs Graph_NumberTensor:$y);
}

def Graph_ConstantOfShapeOp : Graph_Op<"constant_of_shape"> {
  let summary = "ONNX ConstantOfShape (opset 24)";
  let description = [{
    A tensor with the sizes in `shape`, each element of which is the one element
    of `value`.

    ONNX `ConstantOfShape` (opset 24), with an absent `value` resolved to f32 0.
  }];
  let arguments = (ins Graph_I64List:$shape, ElementsAttr:$value);
  let results = (outs Graph_Tensor:$y);
  let format = "$shape `value` `=` $value";
}

} // hasFolder

def Graph_EyeLikeOp : Graph_Op<"eye_like"> {
  let summary = "ONNX EyeLike (opset 22)";
  let description = [{
    A matrix with the shape of x, 1 on the diagonal `k` columns right of the main
    one (left if negative) and 0 elsewhere. Its element type is `to`, or x's.

    ONNX `EyeLike` (opset 22), `to` is its `dtype`.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64<0>:$k,
                       OptionalAttr<TypeAttr>:$to);
  let results = (outs Graph_Tensor:$y);
  let format = "$x (`k` `=` $k^)? (`to` `=` $to^)?";
}

def Graph_DepthToSpaceOp : Graph_Op<"depth_to_space"> {
  let summary = "ONNX DepthToSpace (opset 13)";
  let description = [{
    Moves blocks of channels of x `[N, C, H, W]` to space, giving
    `[N, C / b^2, H * b, W * b]` for `blocksize` b. `mode` tells which part of a
    channel index is the block: the depth comes last in "DCR" (channel
    `(bh * b + bw) * C / b^2 + c`), first in "CRD" (`(c * b + bh) * b + bw`).

    ONNX `DepthToSpace` (opset 13).
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$blocksize,
                       Graph_Choice<["DCR", "CRD"]>:$mode);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `blocksize` `=` $blocksize (`mode` `=` $mode^)?";
}

def Graph_SpaceToDepthOp : Graph_Op<"space_to_depth"> {
  let summary = "ONNX SpaceToDepth (opset 13)";
  let description = [{
    Moves spatial blocks of x `[N, C, H, W]` to channels, giving
    `[N, C * b^2, H / b, W / b]` for `blocksize` b; the inverse of
    `graph.depth_to_space` in mode "DCR".

    ONNX `SpaceToDepth` (opset 13).
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$blocksize);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `blocksize` `=` $blocksize";
}

#endif // PHASELINE_GRAPH_SHAPE_TD
