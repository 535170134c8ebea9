// The dialect of MLIR's tutorial: tensors of f64, whose shapes are found by inference.

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
  let hasConstantMaterializer = 1;
}

class Toy_Op<string mnemonic, list<Trait> traits = []> :
    Op<Toy_Dialect, mnemonic, traits>;

def Toy_Tensor : TensorOf<[F64]>;

def Toy_ConstantOp : Toy_Op<"constant", [ConstantLike, Pure]> {
  let summary = "A constant tensor";
  let arguments = (ins F64ElementsAttr:$value);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$value attr-dict `:` type($y)";
  let hasFolder = 1;
}

class Toy_Binary<string mnemonic> : Toy_Op<mnemonic,
    [Pure, Commutative, InferTypeOpAdaptorWithIsCompatible]> {
  let arguments = (ins Toy_Tensor:$a, Toy_Tensor:$b);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat =
      "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($y)";
}

def Toy_AddOp : Toy_Binary<"add"> {
  let summary = "Sums of elements at the same place";
}

def Toy_MulOp : Toy_Binary<"mul"> {
  let summary = "Products of elements at the same place";
}

class Toy_Unary<string mnemonic, list<Trait> traits = []> : Toy_Op<mnemonic,
    [Pure] # traits> {
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Toy_TransposeOp : Toy_Unary<"transpose", [InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "A matrix with rows and columns exchanged";
  let hasCanonicalizer = 1;
}

def Toy_ReshapeOp : Toy_Unary<"reshape"> {
  let summary = "The same elements in another shape";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Toy_CastOp : Toy_Unary<"cast", [InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "The same tensor, of whose shape more or less is known";
  let hasFolder = 1;
}

def Toy_PrintOp : Toy_Op<"print"> {
  let summary = "Print a tensor";
  let arguments = (ins Toy_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
