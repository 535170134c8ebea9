//===- GraphUnary.td - One operand, element by element ------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_UNARY_TD
#define PHASELINE_GRAPH_UNARY_TD

include "graph/GraphBase.td"

// y has the type of x.
class Graph_UnaryOp<string mnemonic, string what, Type type, string formula,
                    string onnx, dag attributes = (ins), string keywords = "",
                    list<Trait> traits = []>
    : Graph_Op<mnemonic, traits> {
  let summary = what;
  let description = "Computes `" # formula # "` for each element.\n\n"
                    # "ONNX `" # onnx # "`."
                    # Graph_Example<"%y = graph." # mnemonic # " %x : tensor<4x"
                        # Graph_ExampleElement<type>.name # ">">.text;
  let arguments = !con((ins type:$x), attributes);
  let results = (outs type:$y);
  let elementwise = 1;
  let inference = "inferLike(adaptor.getX(), types)";
  let assemblyFormat = "$x " # keywords
      # " attr-dict `:` custom<ElementwiseTypes>(type($x), type($y))";
}

class Graph_FloatUnaryOp<string mnemonic, string what, string formula,
                         string onnx, dag attributes = (ins), string keywords = "">
    : Graph_UnaryOp<mnemonic, what, Graph_FloatTensor, formula, onnx,
                    attributes, keywords>;

class Graph_FoldedUnaryOp<string mnemonic, string what, Type type,
                          string formula, string onnx, list<Trait> traits = []>
    : Graph_UnaryOp<mnemonic, what, type, formula, onnx, (ins), "", traits> {
  let hasFolder = 1;
}

class Graph_FoldedFunctionOp<string mnemonic, string what, string formula, string onnx>
    : Graph_FoldedUnaryOp<mnemonic, what, Graph_FloatTensor, formula, onnx>;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Graph_AbsOp : Graph_FoldedUnaryOp<"abs", "Absolute value", Graph_NumberTensor,
    "y = |x|", "Abs (opset 13)">;
def Graph_NegOp : Graph_FoldedUnaryOp<"neg", "Negation", Graph_NumberTensor,
    "y = -x", "Neg (opset 13)">;
def Graph_SignOp : Graph_FoldedUnaryOp<"sign", "Sign, as -1, 0 or 1", Graph_NumberTensor,
    "y = -1, 0 or 1, with x's sign", "Sign (opset 13)">;
def Graph_ReciprocalOp : Graph_FoldedUnaryOp<"reciprocal", "Reciprocal", Graph_FloatTensor,
    "y = 1 / x", "Reciprocal (opset 13)">;
def Graph_SqrtOp : Graph_FoldedUnaryOp<"sqrt", "Square root", Graph_FloatTensor,
    "y = sqrt(x), NaN for x < 0", "Sqrt (opset 13)">;
def Graph_FloorOp : Graph_FoldedUnaryOp<"floor", "Rounding down to an integer", Graph_FloatTensor,
    "y = the greatest integer <= x", "Floor (opset 13)">;
def Graph_CeilOp : Graph_FoldedUnaryOp<"ceil", "Rounding up to an integer", Graph_FloatTensor,
    "y = the least integer >= x", "Ceil (opset 13)">;
def Graph_RoundOp : Graph_FoldedUnaryOp<"round", "Rounding to the nearest integer, ties to even", Graph_FloatTensor,
    "y = the integer nearest to x, the even one when two are as near",
    "Round (opset 22)">;
let view = 1 in
def Graph_IdentityOp : Graph_FoldedUnaryOp<"identity", "The operand itself", Graph_Tensor,
    "y = x", "Identity (opset 14)">;
def Graph_NotOp : Graph_FoldedUnaryOp<"not", "Logical negation", Graph_BoolTensor,
    "y = not x", "Not (opset 1)">;
def Graph_BitwiseNotOp : Graph_FoldedUnaryOp<"bitwise_not", "Bitwise complement", Graph_IntTensor,
    "y = ~x", "BitwiseNot (opset 18)">;

//===----------------------------------------------------------------------===//
// Transcendental functions
//===----------------------------------------------------------------------===//

// A polynomial each, most after a reduction of the argument.
let cost = 15 in {

def Graph_ExpOp : Graph_FoldedFunctionOp<"exp", "Exponential function", "y = e^x", "Exp (opset 13)">;
def Graph_LogOp : Graph_FoldedFunctionOp<"log", "Natural logarithm",
    "y = ln(x), NaN for x < 0", "Log (opset 13)">;
def Graph_ErfOp : Graph_FoldedFunctionOp<"erf", "Gauss error function",
    "y = 2 / sqrt(pi) * integral of e^(-t^2) for t in [0, x]",
    "Erf (opset 13)">;
def Graph_SinOp : Graph_FoldedFunctionOp<"sin", "Sine", "y = sin(x)", "Sin (opset 22)">;
def Graph_CosOp : Graph_FoldedFunctionOp<"cos", "Cosine", "y = cos(x)", "Cos (opset 22)">;
def Graph_TanOp : Graph_FoldedFunctionOp<"tan", "Tangent", "y = tan(x)", "Tan (opset 22)">;
def Graph_AsinOp : Graph_FoldedFunctionOp<"asin", "Inverse sine", "y = arcsin(x)", "Asin (opset 22)">;
def Graph_AcosOp : Graph_FoldedFunctionOp<"acos", "Inverse cosine", "y = arccos(x)", "Acos (opset 22)">;
def Graph_AtanOp : Graph_FoldedFunctionOp<"atan", "Inverse tangent", "y = arctan(x)", "Atan (opset 22)">;
def Graph_SinhOp : Graph_FoldedFunctionOp<"sinh", "Hyperbolic sine", "y = sinh(x)", "Sinh (opset 22)">;
def Graph_CoshOp : Graph_FoldedFunctionOp<"cosh", "Hyperbolic cosine", "y = cosh(x)", "Cosh (opset 22)">;
def Graph_TanhOp : Graph_FoldedFunctionOp<"tanh", "Hyperbolic tangent", "y = tanh(x)", "Tanh (opset 13)">;
def Graph_AsinhOp : Graph_FoldedFunctionOp<"asinh", "Inverse hyperbolic sine", "y = arsinh(x)", "Asinh (opset 22)">;
def Graph_AcoshOp : Graph_FoldedFunctionOp<"acosh", "Inverse hyperbolic cosine", "y = arcosh(x)", "Acosh (opset 22)">;
def Graph_AtanhOp : Graph_FoldedFunctionOp<"atanh", "Inverse hyperbolic tangent", "y = artanh(x)", "Atanh (opset 22)">;

} // cost = 15

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

def Graph_ReluOp : Graph_FoldedUnaryOp<"relu", "Rectified linear unit", Graph_NumberTensor,
    "y = max(x, 0)", "Relu (opset 14)">;
let cost = 15 in
def Graph_SigmoidOp : Graph_FoldedFunctionOp<"sigmoid", "Logistic sigmoid",
    "y = 1 / (1 + e^-x)", "Sigmoid (opset 13)">;
let cost = 30 in
def Graph_SoftplusOp : Graph_FloatUnaryOp<"softplus", "Smooth approximation of relu",
    "y = ln(e^x + 1)", "Softplus (opset 22)">;
def Graph_SoftsignOp : Graph_FloatUnaryOp<"softsign", "Rational approximation of the sign",
    "y = x / (1 + |x|)", "Softsign (opset 22)">;
let cost = 30 in
def Graph_MishOp : Graph_FloatUnaryOp<"mish", "Self-regularized activation through softplus and tanh",
    "y = x * tanh(ln(1 + e^x))", "Mish (opset 22)">;
def Graph_HardSwishOp : Graph_FloatUnaryOp<"hard_swish", "Piecewise approximation of swish",
    "y = x * max(0, min(1, x / 6 + 0.5))", "HardSwish (opset 22)">;
let cost = 15 in
def Graph_EluOp : Graph_FloatUnaryOp<"elu", "Exponential linear unit",
    "y = x < 0 ? alpha * (e^x - 1) : x", "Elu (opset 22)",
    (ins Graph_F32<"1.0">:$alpha), "(`alpha` `=` $alpha^)?">;
let cost = 15 in
def Graph_CeluOp : Graph_FloatUnaryOp<"celu", "Continuously differentiable exponential linear unit",
    "y = max(0, x) + min(0, alpha * (e^(x / alpha) - 1))", "Celu (opset 12)",
    (ins Graph_F32<"1.0">:$alpha), "(`alpha` `=` $alpha^)?">;
let cost = 15 in
def Graph_SeluOp : Graph_FloatUnaryOp<"selu", "Scaled exponential linear unit",
    "y = gamma * (x <= 0 ? alpha * (e^x - 1) : x)", "Selu (opset 22)",
    (ins Graph_F32<"1.67326319217681884765625">:$alpha,
         Graph_F32<"1.05070102214813232421875">:$gamma),
    "(`alpha` `=` $alpha^)? (`gamma` `=` $gamma^)?">;
def Graph_LeakyReluOp : Graph_FloatUnaryOp<"leaky_relu", "Relu with a slope for negative numbers",
    "y = x < 0 ? alpha * x : x", "LeakyRelu (opset 16)",
    (ins Graph_F32<"0.01">:$alpha), "(`alpha` `=` $alpha^)?">;
def Graph_HardSigmoidOp : Graph_FloatUnaryOp<"hard_sigmoid", "Piecewise linear approximation of sigmoid",
    "y = max(0, min(1, alpha * x + beta))", "HardSigmoid (opset 22)",
    (ins Graph_F32<"0.2">:$alpha, Graph_F32<"0.5">:$beta),
    "(`alpha` `=` $alpha^)? (`beta` `=` $beta^)?">;
def Graph_ThresholdedReluOp : Graph_FloatUnaryOp<"thresholded_relu", "Numbers above a threshold, else 0",
    "y = x > alpha ? x : 0", "ThresholdedRelu (opset 22)",
    (ins Graph_F32<"1.0">:$alpha), "(`alpha` `=` $alpha^)?">;
let cost = 15 in
def Graph_SwishOp : Graph_FloatUnaryOp<"swish", "Number times its sigmoid",
    "y = x / (1 + e^(-alpha * x))", "Swish (opset 24)",
    (ins Graph_F32<"1.0">:$alpha), "(`alpha` `=` $alpha^)?">;
def Graph_ShrinkOp : Graph_UnaryOp<"shrink", "Shrinkage towards 0", Graph_NumberTensor,
    "y = x < -lambd ? x + bias : x > lambd ? x - bias : 0", "Shrink (opset 9)",
    (ins Graph_F32<"0.0">:$bias, Graph_F32<"0.5">:$lambd),
    "(`bias` `=` $bias^)? (`lambd` `=` $lambd^)?">;

let cost = 15 in
def Graph_GeluOp : Graph_FloatUnaryOp<"gelu", "Gaussian error linear unit",
    "y = x * P(X <= x) for a normal X", "Gelu (opset 20)",
    (ins Graph_Choice<["none", "tanh"]>:$approximate),
    "(`approximate` `=` $approximate^)?"> {
  let description = [{
    Computes `y = 0.5 * x * (1 + erf(x / sqrt(2)))` for each element, or with
    `approximate = "tanh"`
    `y = 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.

    ONNX `Gelu` (opset 20).

    Example:

    ```mlir
    %y = graph.gelu %x approximate = "tanh" : tensor<4xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Other result types, other operands
//===----------------------------------------------------------------------===//

def Graph_IsNanOp : Graph_Op<"is_nan"> {
  let elementwise = 1;
  let summary = "Test for NaN";
  let description = [{
    Computes `y = true` for each element that is a NaN, else `false`.

    ONNX `IsNaN` (opset 20).

    Example:

    ```mlir
    %y = graph.is_nan %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_BoolTensor:$y);
  let inference = "inferMask(adaptor.getX(), types)";
}

def Graph_IsInfOp : Graph_Op<"is_inf"> {
  let elementwise = 1;
  let summary = "Test for infinity";
  let description = [{
    Computes `y = true` for each element that is an infinity of a sign that is
    asked for, else `false`.

    ONNX `IsInf` (opset 20).

    Example:

    ```mlir
    %y = graph.is_inf %x detect_negative = false : (tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x,
                       Graph_True:$detect_negative, Graph_True:$detect_positive);
  let results = (outs Graph_BoolTensor:$y);
  let inference = "inferMask(adaptor.getX(), types)";
  let format = [{
    $x (`detect_negative` `=` $detect_negative^)?
    (`detect_positive` `=` $detect_positive^)?
  }];
}

def Graph_CastOp : Graph_Op<"cast"> {
  let elementwise = 1;
  let summary = "Conversion of the element type";
  let description = [{
    Converts each element to the type `to`. Float to integer truncates toward
    zero, and is undefined out of range. Integer to narrower integer keeps the
    low bits. Anything to `i1` is `x != 0`; `i1` to a number is 0 or 1. Float to
    narrower float rounds to nearest, ties to even. `saturate` concerns 8-bit
    floats only: out of range gives the greatest finite value, else NaN or
    infinity.

    ONNX `Cast` (opset 21). `CastLike` is imported as this op.

    Example:

    ```mlir
    %y = graph.cast %x : tensor<4xf32> to tensor<4xi32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, TypeAttr:$to, Graph_True:$saturate);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = [{
    $x (`saturate` `=` $saturate^)? attr-dict
    `:` custom<CastTypes>(type($x), type($y), $to)
  }];
  let hasFolder = 1;
}

def Graph_BitcastOp : Graph_Op<"bitcast"> {
  let elementwise = 1;
  let summary = "The bits of each element as another type";
  let description = [{
    Reads the bits of each element as an element of type `to`, which has as many.

    ONNX `BitCast` (opset 26).

    Example:

    ```mlir
    %y = graph.bitcast %x : tensor<4xf32> to tensor<4xi32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x, TypeAttr:$to);
  let results = (outs Graph_NumberTensor:$y);
  let assemblyFormat = [{
    $x attr-dict `:` custom<CastTypes>(type($x), type($y), $to)
  }];
}

def Graph_ClipOp : Graph_Op<"clip", [AttrSizedOperandSegments]> {
  let elementwise = 1;
  let summary = "Restriction to a range";
  let description = [{
    Computes `y = min(max(x, min), max)` for each element; a bound that is left
    out or NaN does not bound. Bounds are scalars of x's element type. When `min`
    exceeds `max`, all elements are `max`.

    ONNX `Clip` (opset 13).

    Example:

    ```mlir
    %y = graph.clip %x min %low max %high
        : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$x,
                       Optional<Graph_NumberTensor>:$min,
                       Optional<Graph_NumberTensor>:$max);
  let results = (outs Graph_NumberTensor:$y);
  let format = [{
    $x (`min` $min^)? (`max` $max^)?
  }];
  let hasFolder = 1;
}

#endif // PHASELINE_GRAPH_UNARY_TD
