//===- GraphReduce.td - Ops along axes ----------------------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_REDUCE_TD
#define PHASELINE_GRAPH_REDUCE_TD

include "graph/GraphBase.td"

class Graph_ReduceOp<string mnemonic, Type type, string formula, string onnx>
    : Graph_Op<mnemonic> {
  let summary = "ONNX " # onnx;
  let description = "Computes `" # formula # "` over the dimensions `axes`, all "
      # "if the list is empty. With `keepdims` they stay with size 1, else they "
      # "are removed. Negative axes count from the last dimension.\n\n"
      # "ONNX `" # onnx # "`. Its `noop_with_empty_axes` is imported as no op.";
  let arguments = (ins type:$x, Graph_I64s:$axes, Graph_True:$keepdims);
  let results = (outs type:$y);
  let inference = "inferReduce(infer, adaptor.getX(), adaptor.getAxes(), "
                  "adaptor.getKeepdims(), types)";
  let format = [{
    $x (`axes` `=` $axes^)? (`keepdims` `=` $keepdims^)?
  }];
}

let hasFolder = 1 in {
def Graph_ReduceSumOp : Graph_ReduceOp<"reduce_sum", Graph_NumberTensor,
    "y = sum x", "ReduceSum (opset 13)">;
def Graph_ReduceMeanOp : Graph_ReduceOp<"reduce_mean", Graph_NumberTensor,
    "y = (sum x) / number of elements", "ReduceMean (opset 18)">;
def Graph_ReduceProdOp : Graph_ReduceOp<"reduce_prod", Graph_NumberTensor,
    "y = product of x", "ReduceProd (opset 18)">;
def Graph_ReduceMaxOp : Graph_ReduceOp<"reduce_max", Graph_NumberOrBoolTensor,
    "y = max x", "ReduceMax (opset 20)">;
def Graph_ReduceMinOp : Graph_ReduceOp<"reduce_min", Graph_NumberOrBoolTensor,
    "y = min x", "ReduceMin (opset 20)">;
} // hasFolder
def Graph_ReduceL1Op : Graph_ReduceOp<"reduce_l1", Graph_NumberTensor,
    "y = sum |x|", "ReduceL1 (opset 18)">;
def Graph_ReduceL2Op : Graph_ReduceOp<"reduce_l2", Graph_NumberTensor,
    "y = sqrt(sum x^2)", "ReduceL2 (opset 18)">;
def Graph_ReduceLogSumOp : Graph_ReduceOp<"reduce_log_sum", Graph_NumberTensor,
    "y = ln(sum x)", "ReduceLogSum (opset 18)">;
def Graph_ReduceLogSumExpOp : Graph_ReduceOp<"reduce_log_sum_exp",
    Graph_NumberTensor, "y = ln(sum e^x)", "ReduceLogSumExp (opset 18)">;
def Graph_ReduceSumSquareOp : Graph_ReduceOp<"reduce_sum_square",
    Graph_NumberTensor, "y = sum x^2", "ReduceSumSquare (opset 18)">;

class Graph_ArgOp<string mnemonic, string onnx, string which>
    : Graph_Op<mnemonic> {
  let summary = "ONNX " # onnx;
  let description = "The position along `axis` of the " # which # " element; of "
      # "equal ones the first, or with `select_last_index` the last. With "
      # "`keepdims` the dimension stays with size 1, else it is removed.\n\n"
      # "ONNX `" # onnx # "`.";
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

def Graph_ArgMaxOp : Graph_ArgOp<"argmax", "ArgMax (opset 13)", "greatest">;
def Graph_ArgMinOp : Graph_ArgOp<"argmin", "ArgMin (opset 13)", "least">;

def Graph_CumSumOp : Graph_Op<"cumsum"> {
  let summary = "ONNX CumSum (opset 14)";
  let description = [{
    The sum of all elements along `axis` up to and including each one; without
    that one if `exclusive`; from the far end with `reverse`.

    ONNX `CumSum` (opset 14), with a constant `axis`.
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
  let summary = "ONNX TopK (opset 24)";
  let description = [{
    The k greatest elements along `axis` (the least without `largest`) and their
    positions. With `sorted`, the results are in order. Of equal elements, that
    with the lower position goes first. k is a tensor of one element.

    ONNX `TopK` (opset 24).
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

#endif // PHASELINE_GRAPH_REDUCE_TD
