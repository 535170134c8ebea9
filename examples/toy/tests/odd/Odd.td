// Operations whose code fails.

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Odd_Dialect : Dialect {
  let name = "odd";
  let cppNamespace = "::odd";
}

class Odd_Op<string mnemonic, list<Trait> traits = [Pure]> :
    Op<Odd_Dialect, mnemonic, traits> {
  let arguments = (ins I32:$x);
  let results = (outs I32:$y);
  let assemblyFormat = "$x attr-dict";
}

def Odd_VerifyOp : Odd_Op<"verify"> { let hasVerifier = 1; }
def Odd_EditOp : Odd_Op<"edit"> { let hasVerifier = 1; }
def Odd_FoldOp : Odd_Op<"fold"> { let hasFolder = 1; }
def Odd_RuleOp : Odd_Op<"rule"> { let hasCanonicalizer = 1; }
def Odd_InferOp : Odd_Op<"infer",
    [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let results = (outs AnyInteger:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
