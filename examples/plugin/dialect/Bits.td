// The dialect of the plugin: integers as rows of bits.

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Bits_Dialect : Dialect {
  let name = "bits";
  let cppNamespace = "::bits";
}

def Bits_RotateOp : Op<Bits_Dialect, "rotate", [Pure, SameOperandsAndResultType]> {
  let summary = "The bits of a number, moved to the left in a circle";
  let arguments = (ins SignlessIntegerLike:$x, I64Attr:$by);
  let results = (outs SignlessIntegerLike:$y);
  let assemblyFormat = "$x `by` $by attr-dict `:` type($y)";
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}
