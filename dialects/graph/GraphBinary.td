//===- GraphBinary.td - Broadcasting elementwise ops --------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_BINARY_TD
#define PHASELINE_GRAPH_BINARY_TD

include "graph/GraphBase.td"

// Operands broadcast to one shape as in numpy: shapes are aligned at the last
// dimension, and a missing dimension or one of size 1 is repeated.
class Graph_BroadcastOp<string mnemonic, string what, Type type,
                        string formula, string onnx, dag attributes = (ins), string keywords = "",
                        list<Trait> traits = []>
    : Graph_Op<mnemonic, traits> {
  let summary = what;
  let description = "Computes `" # formula # "` for each element, after "
      # "broadcasting a and b to one shape.\n\n" # "ONNX `" # onnx # "`."
      # Graph_Example<"%y = graph." # mnemonic # " %a, %b : tensor<4x"
          # Graph_ExampleElement<type>.name # ">">.text;
  let arguments = !con((ins type:$a, type:$b), attributes);
  let results = (outs type:$y);
  let elementwise = 1;
  let inference = "inferBroadcast(infer, adaptor.getA(), adaptor.getB(), types)";
  let assemblyFormat = "$a `,` $b " # keywords
      # " attr-dict `:` custom<ElementwiseTypes>(type($a), type($b), type($y))";
  let hasFolder = 1;
}

class Graph_CompareOp<string mnemonic, string what, Type type, string formula,
                      string onnx, list<Trait> traits = []>
    : Graph_BroadcastOp<mnemonic, what, type, formula, onnx, (ins), "", traits> {
  let results = (outs Graph_BoolTensor:$y);
  let inference = "inferCompare(infer, adaptor.getA(), adaptor.getB(), types)";
  let assemblyFormat = [{
    $a `,` $b attr-dict `:` custom<CompareTypes>(type($a), type($b), type($y))
  }];
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Graph_AddOp : Graph_BroadcastOp<"add", "Addition with broadcasting", Graph_NumberTensor,
    "y = a + b", "Add (opset 14)", (ins), "", [Commutative]>;
def Graph_SubOp : Graph_BroadcastOp<"sub", "Subtraction with broadcasting", Graph_NumberTensor,
    "y = a - b", "Sub (opset 14)">;
def Graph_MulOp : Graph_BroadcastOp<"mul", "Multiplication with broadcasting", Graph_NumberTensor,
    "y = a * b", "Mul (opset 14)", (ins), "", [Commutative]>;
def Graph_DivOp : Graph_BroadcastOp<"div", "Division with broadcasting", Graph_NumberTensor,
    "y = a / b, truncated toward zero for integers", "Div (opset 14)">;
def Graph_MinOp : Graph_BroadcastOp<"min", "Elementwise minimum with broadcasting", Graph_NumberTensor,
    "y = the lesser of a and b, NaN if one is", "Min (opset 13)", (ins), "",
    [Commutative]>;
def Graph_MaxOp : Graph_BroadcastOp<"max", "Elementwise maximum with broadcasting", Graph_NumberTensor,
    "y = the greater of a and b, NaN if one is", "Max (opset 13)", (ins), "",
    [Commutative]>;

let cost = 30 in
def Graph_PowOp : Graph_BroadcastOp<"pow", "Power with broadcasting", Graph_NumberTensor,
    "y = a^b", "Pow (opset 15)"> {
  let description = [{
    Computes `y = a^b` for each element, after broadcasting a and b to one
    shape. b may have another element type than a; y has a's.

    ONNX `Pow` (opset 15).

    Example:

    ```mlir
    %y = graph.pow %a, %b
        : (tensor<2x4xf32>, tensor<4xi32>) -> tensor<2x4xf32>
    ```
  }];
  let inference = "";
}

let cost = 30, hasFolder = 0 in
def Graph_Atan2Op : Graph_BroadcastOp<"atan2", "Angle of a point with broadcasting", Graph_FloatTensor,
    "y = atan2(a, b)", ""> {
  let description = [{
    Computes the angle in radians, from -pi to pi, between the positive first
    axis and the point `(b, a)` for each element, after broadcasting a and b to
    one shape. Zeros and infinities count with their signs, as in C.

    TFLite `ATAN2`.

    Example:

    ```mlir
    %y = graph.atan2 %a, %b : tensor<4xf32>
    ```
  }];
}

def Graph_ModOp : Graph_BroadcastOp<"mod", "Remainder with broadcasting", Graph_NumberTensor,
    "y = a mod b", "Mod (opset 13)",
    (ins Graph_False:$fmod), "(`fmod` `=` $fmod^)?"> {
  let description = [{
    Computes the remainder of a / b for each element, after broadcasting a and b
    to one shape. It has the sign of b (integers only), or with `fmod` the sign
    of a, as in C.

    ONNX `Mod` (opset 13).

    Example:

    ```mlir
    %y = graph.mod %a, %b fmod = true : tensor<4xf32>
    ```
  }];
  let inference = "";
}

def Graph_PreluOp : Graph_Op<"prelu"> {
  let elementwise = 1;
  let summary = "Relu with a tensor of slopes for negative numbers";
  let description = [{
    Computes `y = x < 0 ? slope * x : x` for each element. The shape of `slope`
    broadcasts to the shape of `x`.

    ONNX `PRelu` (opset 16).

    Example:

    ```mlir
    %y = graph.prelu %x, %slope
        : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, Graph_NumberTensor:$slope);
  let results = (outs Graph_NumberTensor:$y);
  let assemblyFormat = [{
    $x `,` $slope attr-dict
    `:` custom<ElementwiseTypes>(type($x), type($slope), type($y))
  }];
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

def Graph_EqualOp : Graph_CompareOp<"equal", "Comparison for equality", Graph_NumberOrBoolTensor,
    "y = a == b", "Equal (opset 19)", [Commutative]>;
def Graph_GreaterOp : Graph_CompareOp<"greater", "Comparison for greater", Graph_NumberTensor,
    "y = a > b", "Greater (opset 13)">;
def Graph_GreaterOrEqualOp : Graph_CompareOp<"greater_or_equal", "Comparison for greater or equal",
    Graph_NumberTensor, "y = a >= b", "GreaterOrEqual (opset 16)">;
def Graph_LessOp : Graph_CompareOp<"less", "Comparison for less", Graph_NumberTensor,
    "y = a < b", "Less (opset 13)">;
def Graph_LessOrEqualOp : Graph_CompareOp<"less_or_equal", "Comparison for less or equal", Graph_NumberTensor,
    "y = a <= b", "LessOrEqual (opset 16)">;

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

def Graph_AndOp : Graph_BroadcastOp<"and", "Logical and", Graph_BoolTensor,
    "y = a and b", "And (opset 7)", (ins), "", [Commutative]>;
def Graph_OrOp : Graph_BroadcastOp<"or", "Logical or", Graph_BoolTensor,
    "y = a or b", "Or (opset 7)", (ins), "", [Commutative]>;
def Graph_XorOp : Graph_BroadcastOp<"xor", "Logical exclusive or", Graph_BoolTensor,
    "y = a != b", "Xor (opset 7)", (ins), "", [Commutative]>;
def Graph_BitwiseAndOp : Graph_BroadcastOp<"bitwise_and", "Bitwise and", Graph_IntTensor,
    "y = a & b", "BitwiseAnd (opset 18)", (ins), "", [Commutative]>;
def Graph_BitwiseOrOp : Graph_BroadcastOp<"bitwise_or", "Bitwise or", Graph_IntTensor,
    "y = a | b", "BitwiseOr (opset 18)", (ins), "", [Commutative]>;
def Graph_BitwiseXorOp : Graph_BroadcastOp<"bitwise_xor", "Bitwise exclusive or", Graph_IntTensor,
    "y = a ^ b", "BitwiseXor (opset 18)", (ins), "", [Commutative]>;
def Graph_BitShiftOp : Graph_BroadcastOp<"bit_shift", "Shift of bits to the left or right", Graph_UnsignedTensor,
    "y = a shifted by b bits", "BitShift (opset 11)",
    (ins Graph_OneOf<["LEFT", "RIGHT"]>:$direction),
    "`direction` `=` $direction"> {
  let description = [{
    Shifts each element of a by b bits in `direction`, after broadcasting a and
    b to one shape. A shift by the width of the type or more gives 0.

    ONNX `BitShift` (opset 11).

    Example:

    ```mlir
    %y = graph.bit_shift %a, %b direction = "LEFT" : tensor<4xui8>
    ```
  }];
}

def Graph_WhereOp : Graph_Op<"where"> {
  let elementwise = 1;
  let summary = "Choice between two tensors by a condition";
  let description = [{
    Computes `y = condition ? a : b` for each element, after broadcasting all
    three to one shape.

    ONNX `Where` (opset 16).

    Example:

    ```mlir
    %y = graph.where %c, %a, %b
        : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$a,
                       Graph_Tensor:$b);
  let results = (outs Graph_Tensor:$y);
  let hasFolder = 1;
}

#endif // PHASELINE_GRAPH_BINARY_TD
