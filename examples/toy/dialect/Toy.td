// The dialect of the example: tensors of f64, as in MLIR's Toy.

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
}

class Toy_Op<string mnemonic, list<Trait> traits = []> :
    Op<Toy_Dialect, mnemonic, traits>;

def Toy_Tensor : TensorOf<[F64]>;

def Toy_ConstantOp : Toy_Op<"constant", [Pure]> {
  let summary = "A constant tensor";
  let arguments = (ins F64ElementsAttr:$value);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$value attr-dict `:` type($y)";
}

def Toy_TransposeOp : Toy_Op<"transpose", [Pure]> {
  let summary = "A matrix with rows and columns exchanged";
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Toy_ReshapeOp : Toy_Op<"reshape", [Pure]> {
  let summary = "The same elements in another shape";
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Toy_AddOp : Toy_Op<"add", [Pure, SameOperandsAndResultType, Commutative]> {
  let summary = "Sums of elements at the same place";
  let arguments = (ins Toy_Tensor:$a, Toy_Tensor:$b);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($y)";
}

def Toy_MulOp : Toy_Op<"mul", [Pure, SameOperandsAndResultType, Commutative]> {
  let summary = "Products of elements at the same place";
  let arguments = (ins Toy_Tensor:$a, Toy_Tensor:$b);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($y)";
}

def Toy_PrintOp : Toy_Op<"print"> {
  let summary = "Print a tensor";
  let arguments = (ins Toy_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
