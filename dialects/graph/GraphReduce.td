//===- GraphReduce.td - Ops along axes ----------------------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_REDUCE_TD
#define PHASELINE_GRAPH_REDUCE_TD

include "graph/GraphBase.td"

class Graph_ReduceOp<string mnemonic, string what, Type type, string formula,
                     string onnx>
    : Graph_Op<mnemonic> {
  let summary = what;
  let description = "Computes `" # formula # "` over the dimensions `axes`, all "
      # "if the list is empty. With `keepdims` they stay with size 1, else they "
      # "are removed. Negative axes count from the last dimension.\n\n"
      # "ONNX `" # onnx # "`. Its `noop_with_empty_axes` is imported as no op."
      # Graph_Example<"%y = graph." # mnemonic # " %x axes = [1] keepdims = false\n"
          # "    : (tensor<2x3xf32>) -> tensor<2xf32>">.text;
  let arguments = (ins type:$x, Graph_I64s:$axes, Graph_True:$keepdims);
  let results = (outs type:$y);
  let inference = "inferReduce(infer, adaptor.getX(), adaptor.getAxes(), "
                  "adaptor.getKeepdims(), types)";
  let format = [{
    $x (`axes` `=` $axes^)? (`keepdims` `=` $keepdims^)?
  }];
}

let hasFolder = 1 in {
def Graph_ReduceSumOp : Graph_ReduceOp<"reduce_sum", "Sum along axes", Graph_NumberTensor,
    "y = sum x", "ReduceSum (opset 13)">;
def Graph_ReduceMeanOp : Graph_ReduceOp<"reduce_mean", "Mean along axes", Graph_NumberTensor,
    "y = (sum x) / number of elements", "ReduceMean (opset 18)">;
def Graph_ReduceProdOp : Graph_ReduceOp<"reduce_prod", "Product along axes", Graph_NumberTensor,
    "y = product of x", "ReduceProd (opset 18)">;
def Graph_ReduceMaxOp : Graph_ReduceOp<"reduce_max", "Maximum along axes", Graph_NumberOrBoolTensor,
    "y = max x", "ReduceMax (opset 20)">;
def Graph_ReduceMinOp : Graph_ReduceOp<"reduce_min", "Minimum along axes", Graph_NumberOrBoolTensor,
    "y = min x", "ReduceMin (opset 20)">;
} // hasFolder
def Graph_ReduceL1Op : Graph_ReduceOp<"reduce_l1", "Sum of absolute values along axes", Graph_NumberTensor,
    "y = sum |x|", "ReduceL1 (opset 18)">;
def Graph_ReduceL2Op : Graph_ReduceOp<"reduce_l2", "Euclidean norm along axes", Graph_NumberTensor,
    "y = sqrt(sum x^2)", "ReduceL2 (opset 18)">;
def Graph_ReduceLogSumOp : Graph_ReduceOp<"reduce_log_sum", "Logarithm of the sum along axes", Graph_NumberTensor,
    "y = ln(sum x)", "ReduceLogSum (opset 18)">;
def Graph_ReduceLogSumExpOp : Graph_ReduceOp<"reduce_log_sum_exp", "Logarithm of the sum of exponentials along axes",
    Graph_NumberTensor, "y = ln(sum e^x)", "ReduceLogSumExp (opset 18)">;
def Graph_ReduceSumSquareOp : Graph_ReduceOp<"reduce_sum_square", "Sum of squares along axes",
    Graph_NumberTensor, "y = sum x^2", "ReduceSumSquare (opset 18)">;

class Graph_ArgOp<string mnemonic, string what, string onnx, string which>
    : Graph_Op<mnemonic> {
  let summary = what;
  let description = "The position along `axis` of the " # which # " element; of "
      # "equal ones the first, or with `select_last_index` the last. With "
      # "`keepdims` the dimension stays with size 1, else it is removed.\n\n"
      # "ONNX `" # onnx # "`."
      # Graph_Example<"%y = graph." # mnemonic # " %x axis = 1 : "
          # "(tensor<2x3xf32>) -> tensor<2x1xi64>">.text;
  let arguments = (ins Graph_NumberTensor:$x, Graph_I64<0>:$axis,
                       Graph_True:$keepdims, Graph_False:$select_last_index);
  let results = (outs Graph_I64Tensor:$y);
  let inference = "inferArg(infer, adaptor.getX(), adaptor.getAxis(), "
                  "adaptor.getKeepdims(), types)";
  let format = [{
    $x (`axis` `=` $axis^)? (`keepdims` `=` $keepdims^)?
    (`select_last_index` `=` $select_last_index^)?
  }];
}

def Graph_ArgMaxOp : Graph_ArgOp<"argmax", "Position of the greatest element along an axis", "ArgMax (opset 13)", "greatest">;
def Graph_ArgMinOp : Graph_ArgOp<"argmin", "Position of the least element along an axis", "ArgMin (opset 13)", "least">;

def Graph_CumSumOp : Graph_Op<"cumsum"> {
  let summary = "Running sum along an axis";
  let description = [{
    The sum of all elements along `axis` up to and including each one; without
    that one if `exclusive`; from the far end with `reverse`.

    ONNX `CumSum` (opset 14), with a constant `axis`.

    Example:

    ```mlir
    %y = graph.cumsum %x axis = 1 : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, I64Attr:$axis,
                       Graph_False:$exclusive, Graph_False:$reverse);
  let results = (outs Graph_NumberTensor:$y);
  let inference =
      "inferAlongAxis(infer, adaptor.getX(), adaptor.getAxis(), types)";
  let assemblyFormat = [{
    $x `axis` `=` $axis (`exclusive` `=` $exclusive^)? (`reverse` `=` $reverse^)?
    attr-dict `:` custom<ElementwiseTypes>(type($x), type($y))
  }];
}

def Graph_TopKOp : Graph_Op<"top_k"> {
  let summary = "Greatest or least elements along an axis, and where they are";
  let description = [{
    The k greatest elements along `axis` (the least without `largest`) and their
    positions. With `sorted`, the results are in order. Of equal elements, that
    with the lower position goes first. k is a tensor of one element.

    ONNX `TopK` (opset 24).

    Example:

    ```mlir
    %values, %indices = graph.top_k %x, %k
        : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>)
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_I64Tensor:$k,
                       Graph_I64<-1>:$axis, Graph_True:$largest,
                       Graph_True:$sorted);
  let results = (outs Graph_NumberTensor:$values, Graph_I64Tensor:$indices);
  let format = [{
    $x `,` $k (`axis` `=` $axis^)? (`largest` `=` $largest^)?
    (`sorted` `=` $sorted^)?
  }];
}

def Graph_DetOp : Graph_Op<"det"> {
  let summary = "Determinants of square matrices";
  let description = [{
    The determinant of each matrix that the last two dimensions of x hold, which
    have equal sizes: `x [..., M, M]`, `y [...]`. That of an empty matrix is 1.

    ONNX `Det` (opset 22).

    Example:

    ```mlir
    %y = graph.det %x : (tensor<5x3x3xf32>) -> tensor<5xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_FloatTensor:$y);
}

#endif // PHASELINE_GRAPH_REDUCE_TD
