//===- GraphData.td - Moving, picking and joining elements --*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_DATA_TD
#define PHASELINE_GRAPH_DATA_TD

include "graph/GraphBase.td"


//===----------------------------------------------------------------------===//
// Joining and cutting
//===----------------------------------------------------------------------===//

let hasFolder = 1 in {

def Graph_ConcatOp : Graph_Op<"concat"> {
  let summary = "Concatenation along an axis";
  let description = [{
    The operands one after the other along `axis`; all other dimensions are
    equal.

    ONNX `Concat` (opset 13).

    Example:

    ```mlir
    %y = graph.concat %a, %b axis = 0
        : (tensor<4x5xf32>, tensor<1x5xf32>) -> tensor<5x5xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Graph_Tensor:$y);
  let format = "$inputs `axis` `=` $axis";
}

def Graph_SplitOp : Graph_Op<"split"> {
  let summary = "Division into pieces along an axis";
  let description = [{
    x cut along `axis` into pieces of the sizes in `split`, one result each.

    ONNX `Split` (opset 18), with `num_outputs` resolved to `split`.

    Example:

    ```mlir
    %a, %b = graph.split %x axis = 1 split = [2, 3]
        : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x3xf32>)
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64<0>:$axis,
                       DenseI64ArrayAttr:$split);
  let results = (outs Variadic<Graph_Tensor>:$pieces);
  let format = "$x (`axis` `=` $axis^)? `split` `=` $split";
}

def Graph_SliceOp : Graph_Op<"slice", [AttrSizedOperandSegments]> {
  let summary = "Range of each of some dimensions";
  let description = [{
    The elements of x from `starts[i]` up to but without `ends[i]`, every
    `steps[i]`-th, along dimension `axes[i]`, for each i; other dimensions are
    kept. Negative positions count from the end; positions are clamped to the
    dimension. A negative step walks backwards. Absent axes are 0, 1, ...;
    absent steps are 1.

    ONNX `Slice` (opset 13).

    Example:

    ```mlir
    %y = graph.slice %x, %starts, %ends axes %axes
        : (tensor<4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
        -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexList:$starts,
                       Graph_IndexList:$ends, Optional<Graph_IndexList>:$axes,
                       Optional<Graph_IndexList>:$steps);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $starts `,` $ends (`axes` $axes^)? "
                       # "(`steps` $steps^)?";
}

def Graph_PadOp : Graph_Op<"pad", [AttrSizedOperandSegments]> {
  let summary = "Padding of dimensions";
  let description = [{
    x with `pads` elements added: those before each of `axes`, then those after
    each; negative ones are cut off. Absent axes are all. `mode` decides on the
    new elements: the scalar `value` (absent: 0), the mirror image without the
    edge ("reflect"), the edge ("edge"), or the opposite side ("wrap"). With
    "undefined" they have no particular values, and are not to be read.

    ONNX `Pad` (opset 24), without the last mode.

    Example:

    ```mlir
    %y = graph.pad %x, %pads mode = "reflect"
        : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64List:$pads,
                       Optional<Graph_Tensor>:$value,
                       Optional<Graph_IndexList>:$axes,
                       Graph_Choice<["constant", "reflect", "edge", "wrap",
                                      "undefined"]>
                           :$mode);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $pads (`value` $value^)? (`axes` $axes^)? "
                       # "(`mode` `=` $mode^)?";
}

//===----------------------------------------------------------------------===//
// Picking
//===----------------------------------------------------------------------===//

def Graph_GatherOp : Graph_Op<"gather"> {
  let summary = "Slices at given positions along an axis";
  let description = [{
    The slices of x at the positions `indices` along `axis`, whose dimension is
    replaced by those of `indices`. Negative positions count from the end.

    ONNX `Gather` (opset 13).

    Example:

    ```mlir
    %y = graph.gather %x, %indices axis = 1
        : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices,
                       Graph_I64<0>:$axis);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $indices (`axis` `=` $axis^)?";
}

def Graph_NonZeroOp : Graph_Op<"non_zero"> {
  let summary = "Positions of the elements other than 0";
  let description = [{
    The positions of the elements that are not zero, in row-major order: one
    column each, one row per dimension of x.

    ONNX `NonZero` (opset 13).

    Example:

    ```mlir
    %y = graph.non_zero %x : (tensor<4x5xf32>) -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_I64Tensor:$y);
}

} // hasFolder

def Graph_NonMaxSuppressionOp
    : Graph_Op<"non_max_suppression", [AttrSizedOperandSegments]> {
  let summary = "Boxes with the best scores that overlap no better one";
  let description = [{
    For each batch and class in turn, at most `max_output` (absent: 0) boxes in
    the order of their scores. A box is selected if its score is greater than
    `score_threshold` (absent: any score). It may overlap no box before by more
    than `iou_threshold` (absent: 0) of the union of both. A row of the result
    is batch, class and box.

    `boxes` is batch x boxes x 4: two opposite corners (y, x, y, x), or with
    `center_point_box` center and size (x, y, width, height); `scores` is
    batch x classes x boxes.

    ONNX `NonMaxSuppression` (opset 11).

    Example:

    ```mlir
    %y = graph.non_max_suppression %boxes, %scores max_output %m iou_threshold %t
        : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>)
        -> tensor<?x3xi64>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$boxes, Graph_FloatTensor:$scores,
                       Optional<Graph_I64Tensor>:$max_output,
                       Optional<Graph_FloatTensor>:$iou_threshold,
                       Optional<Graph_FloatTensor>:$score_threshold,
                       Graph_False:$center_point_box);
  let results = (outs Graph_I64Tensor:$y);
  let format = "$boxes `,` $scores (`max_output` $max_output^)? "
                       # "(`iou_threshold` $iou_threshold^)? "
                       # "(`score_threshold` $score_threshold^)? "
                       # "(`center_point_box` `=` $center_point_box^)?";
}

def Graph_GatherElementsOp : Graph_Op<"gather_elements"> {
  let summary = "Elements at given positions along an axis";
  let description = [{
    An element of x for each position of `indices`: the one at that position,
    but for its coordinate along `axis`, which is the element of `indices`.

    ONNX `GatherElements` (opset 13).

    Example:

    ```mlir
    %y = graph.gather_elements %x, %indices axis = 1
        : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices,
                       Graph_I64<0>:$axis);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $indices (`axis` `=` $axis^)?";
}

def Graph_GatherNDOp : Graph_Op<"gather_nd"> {
  let summary = "Slices at given coordinates";
  let description = [{
    The slices of x at the coordinates in the last dimension of `indices`, which
    count from dimension `batch_dims` of x on. The first `batch_dims` dimensions
    of both are equal and go in step.

    ONNX `GatherND` (opset 13).

    Example:

    ```mlir
    %y = graph.gather_nd %x, %indices
        : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$indices,
                       Graph_I64<0>:$batch_dims);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $indices (`batch_dims` `=` $batch_dims^)?";
}

def Graph_ScatterElementsOp : Graph_Op<"scatter_elements"> {
  let summary = "Elements written to given positions along an axis";
  let description = [{
    x with each element of `updates` written to its own position, but for the
    coordinate along `axis`, which is the element of `indices`. `reduction` tells
    how it meets what is there: it replaces it ("none"), or the two are added,
    multiplied, or the lesser or greater is kept.

    ONNX `ScatterElements` (opset 18).

    Example:

    ```mlir
    %y = graph.scatter_elements %x, %indices, %updates reduction = "add"
        : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices,
                       Graph_Tensor:$updates, Graph_I64<0>:$axis,
                       Graph_Choice<["none", "add", "mul", "min", "max"]>
                           :$reduction);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $indices `,` $updates (`axis` `=` $axis^)? "
                       # "(`reduction` `=` $reduction^)?";
}

def Graph_ScatterNDOp : Graph_Op<"scatter_nd"> {
  let summary = "Slices written to given coordinates";
  let description = [{
    x with the slices in `updates` written at the coordinates in the last
    dimension of `indices`. `reduction` is as in `graph.scatter_elements`.

    ONNX `ScatterND` (opset 18).

    Example:

    ```mlir
    %y = graph.scatter_nd %x, %indices, %updates
        : (tensor<4x5xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64Tensor:$indices,
                       Graph_Tensor:$updates,
                       Graph_Choice<["none", "add", "mul", "min", "max"]>
                           :$reduction);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $indices `,` $updates "
                       # "(`reduction` `=` $reduction^)?";
}

def Graph_CompressOp : Graph_Op<"compress"> {
  let summary = "Slices that a condition selects";
  let description = [{
    The slices of x along `axis` for which `condition` is true; without an axis,
    those elements of x in row-major order. `condition` may be shorter than the
    dimension.

    ONNX `Compress` (opset 11).

    Example:

    ```mlir
    %y = graph.compress %x, %condition axis = 0
        : (tensor<4x5xf32>, tensor<4xi1>) -> tensor<?x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_BoolTensor:$condition,
                       OptionalAttr<I64Attr>:$axis);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $condition (`axis` `=` $axis^)?";
}

def Graph_OneHotOp : Graph_Op<"one_hot"> {
  let summary = "One-hot encoding of indices";
  let description = [{
    For each index a vector of `depth` elements along a new dimension `axis`:
    `values[1]` at the index, `values[0]` elsewhere. Negative indices count from
    the end; indices out of range give `values[0]` only.

    ONNX `OneHot` (opset 11).

    Example:

    ```mlir
    %y = graph.one_hot %indices, %depth, %values
        : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<3x?xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$indices, Graph_NumberTensor:$depth,
                       Graph_Tensor:$values, Graph_I64<-1>:$axis);
  let results = (outs Graph_Tensor:$y);
  let format = "$indices `,` $depth `,` $values (`axis` `=` $axis^)?";
}

def Graph_TriluOp : Graph_Op<"trilu"> {
  let summary = "Upper or lower triangle of matrices";
  let description = [{
    The upper triangle of the matrices in the last two dimensions of x, and 0
    elsewhere. It begins with the diagonal `k` columns right of the main one
    (absent: 0). Without `upper`, the lower triangle up to that diagonal.

    ONNX `Trilu` (opset 14).

    Example:

    ```mlir
    %y = graph.trilu %x upper = false : (tensor<4x5xf32>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Optional<Graph_I64Tensor>:$k,
                       Graph_True:$upper);
  let results = (outs Graph_Tensor:$y);
  let format = "$x (`,` $k^)? (`upper` `=` $upper^)?";
}

def Graph_ReverseSequenceOp : Graph_Op<"reverse_sequence"> {
  let summary = "Reversal of sequences of given lengths";
  let description = [{
    x with, for each position i along `batch_axis`, the first `lens[i]` slices
    along `time_axis` in reverse order.

    ONNX `ReverseSequence` (opset 10).

    Example:

    ```mlir
    %y = graph.reverse_sequence %x, %lens
        : (tensor<4x5xf32>, tensor<5xi64>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_I64List:$lens,
                       Graph_I64<1>:$batch_axis, Graph_I64<0>:$time_axis);
  let results = (outs Graph_Tensor:$y);
  let format = "$x `,` $lens (`batch_axis` `=` $batch_axis^)? "
                       # "(`time_axis` `=` $time_axis^)?";
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

def Graph_ResizeOp : Graph_Op<"resize", [AttrSizedOperandSegments]> {
  let summary = "Resampling to another size";
  let description = [{
    x resampled along `axes` (empty: all) by `scales`, or to `sizes`; exactly one
    of the two is given, with one element per axis. A result dimension is
    `floor(D * scale)`. `keep_aspect_ratio_policy` may turn `sizes` into bounds.

    `mode` is the interpolation, `coordinate_transformation_mode` says which
    point of x an element of y lies on, `nearest_mode` how that is rounded.
    `roi` holds the starts then the ends of the region that
    "tf_crop_and_resize" reads, relative to x; points outside of x are
    `extrapolation_value`. `cubic_coeff_a`, `exclude_outside` and `antialias`
    are as in ONNX.

    ONNX `Resize` (opset 19). `Upsample` is imported as this op.

    Example:

    ```mlir
    %y = graph.resize %x scales %scales
        : (tensor<1x3x4x4xf32>, tensor<4xf32>) -> tensor<?x?x?x?xf32>
    ```
  }];
  let arguments = (ins
      Graph_NumberTensor:$x, Optional<Graph_FloatTensor>:$roi,
      Optional<Graph_F32Tensor>:$scales, Optional<Graph_I64List>:$sizes,
      Graph_Choice<["nearest", "linear", "cubic"]>:$mode,
      Graph_Choice<["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                    "align_corners", "asymmetric", "tf_crop_and_resize"]>
          :$coordinate_transformation_mode,
      Graph_Choice<["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]>
          :$nearest_mode,
      Graph_F32<"-0.75">:$cubic_coeff_a, Graph_False:$exclude_outside,
      Graph_F32<"0.0">:$extrapolation_value, Graph_False:$antialias,
      Graph_Choice<["stretch", "not_larger", "not_smaller"]>
          :$keep_aspect_ratio_policy,
      Graph_I64s:$axes);
  let results = (outs Graph_NumberTensor:$y);
  let format = "$x (`roi` $roi^)? (`scales` $scales^)? "
                       # "(`sizes` $sizes^)?";
}

def Graph_GridSampleOp : Graph_Op<"grid_sample"> {
  let summary = "Sampling at the points of a grid";
  let description = [{
    x `[N, C, D1, ..., Dn]` sampled at the points in the last dimension of `grid`
    `[N, E1, ..., En, n]`, giving `[N, C, E1, ..., En]`. Coordinates run from the
    last spatial dimension to the first, -1 and 1 being its ends: the centers of
    the edge elements with `align_corners`, else their outer borders.
    `padding_mode` tells what lies outside.

    ONNX `GridSample` (opset 22).

    Example:

    ```mlir
    %y = graph.grid_sample %x, %grid
        : (tensor<1x3x4x4xf32>, tensor<1x5x6x2xf32>) -> tensor<1x3x5x6xf32>
    ```
  }];
  let arguments = (ins
      Graph_NumberTensor:$x, Graph_FloatTensor:$grid,
      Graph_Choice<["linear", "nearest", "cubic"]>:$mode,
      Graph_Choice<["zeros", "border", "reflection"]>:$padding_mode,
      Graph_False:$align_corners);
  let results = (outs Graph_NumberTensor:$y);
}

def Graph_RoiAlignOp : Graph_Op<"roi_align"> {
  let summary = "Interpolated pools of regions";
  let description = [{
    Cuts the region `rois[r] = (x1, y1, x2, y2)` out of image `batch[r]` of x
    `[N, C, H, W]` and pools it to `[C, output_height, output_width]`; the result
    is `[R, C, output_height, output_width]`. Corners are multiplied with
    `spatial_scale`, and moved by half an element with `half_pixel`; without it
    a region has at least one element. A bin takes `sampling_ratio` samples in
    each direction, or with 0 as many as the region has elements per bin, rounded
    up. A sample interpolates linearly between four elements of x and is 0 if it
    is more than one element outside; `avg` gives the mean of the samples, `max`
    the greatest of the elements times their weights.

    ONNX `RoiAlign` (opset 22).

    Example:

    ```mlir
    %y = graph.roi_align %x, %rois, %batch
        {output_height = 2 : i64, output_width = 2 : i64}
        : (tensor<1x3x8x8xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x2x2xf32>
    ```
  }];
  let arguments = (ins
      Graph_FloatTensor:$x, Graph_FloatTensor:$rois, Graph_IntTensor:$batch,
      Graph_Choice<["avg", "max"]>:$mode, Graph_I64<1>:$output_height,
      Graph_I64<1>:$output_width, Graph_I64<0>:$sampling_ratio,
      Graph_F32<"1.0">:$spatial_scale, Graph_True:$half_pixel);
  let results = (outs Graph_FloatTensor:$y);
}

#endif // PHASELINE_GRAPH_DATA_TD
