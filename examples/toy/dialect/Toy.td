// The dialect of the example: tensors of f64, as in MLIR's Toy.

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Toy_Handle : TypeDef<Toy_Dialect, "Handle"> {
  let summary = "An open file";
  let mnemonic = "handle";
}

def Toy_Mode : I32EnumAttr<"Mode", "The use of a file", [
    I32EnumAttrCase<"Read", 0, "read">, I32EnumAttrCase<"Write", 1, "write">]> {
  let cppNamespace = "::toy";
  let genSpecializedAttr = 0;
}

def Toy_ModeAttr : EnumAttr<Toy_Dialect, Toy_Mode, "mode"> {
  let assemblyFormat = "`<` $value `>`";
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

def Toy_TransposeOp : Toy_Op<"transpose", [Pure]> {
  let summary = "A matrix with rows and columns exchanged";
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Toy_ReshapeOp : Toy_Op<"reshape", [Pure]> {
  let summary = "The same elements in another shape";
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
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

def Toy_OpenOp : Toy_Op<"open"> {
  let summary = "Open a file";
  let arguments = (ins StrAttr:$path, Toy_ModeAttr:$mode);
  let results = (outs Toy_Handle:$file);
  let assemblyFormat = "$path $mode attr-dict `:` type($file)";
}

def Toy_ReadOp : Toy_Op<"read"> {
  let summary = "Read a tensor of a file";
  let arguments = (ins Toy_Handle:$file);
  let results = (outs Toy_Tensor:$y);
  let assemblyFormat = "$file attr-dict `:` type($y)";
}

def Toy_CloseOp : Toy_Op<"close"> {
  let summary = "Close a file";
  let arguments = (ins Toy_Handle:$file);
  let assemblyFormat = "$file attr-dict `:` type($file)";
}
