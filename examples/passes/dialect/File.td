// The dialect of the example: files that hold numbers.

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def File_Dialect : Dialect {
  let name = "file";
  let cppNamespace = "::file";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def File_Handle : TypeDef<File_Dialect, "Handle"> {
  let summary = "An open file";
  let mnemonic = "handle";
}

def File_Mode : I32EnumAttr<"Mode", "The use of a file", [
    I32EnumAttrCase<"Read", 0, "read">, I32EnumAttrCase<"Write", 1, "write">]> {
  let cppNamespace = "::file";
  let genSpecializedAttr = 0;
}

def File_ModeAttr : EnumAttr<File_Dialect, File_Mode, "mode"> {
  let assemblyFormat = "`<` $value `>`";
}

class File_Op<string mnemonic> : Op<File_Dialect, mnemonic>;

def File_OpenOp : File_Op<"open"> {
  let summary = "Open a file";
  let arguments = (ins StrAttr:$path, File_ModeAttr:$mode);
  let results = (outs File_Handle:$file);
  let assemblyFormat = "$path $mode attr-dict `:` type($file)";
}

def File_ReadOp : File_Op<"read"> {
  let summary = "Read a number of a file";
  let arguments = (ins File_Handle:$file);
  let results = (outs AnyFloat:$y);
  let assemblyFormat = "$file attr-dict `:` type($y)";
}

def File_WriteOp : File_Op<"write"> {
  let summary = "Write a number to a file";
  let arguments = (ins AnyFloat:$x, File_Handle:$file);
  let assemblyFormat = "$x `to` $file attr-dict `:` type($x)";
}

def File_CloseOp : File_Op<"close"> {
  let summary = "Close a file";
  let arguments = (ins File_Handle:$file);
  let assemblyFormat = "$file attr-dict `:` type($file)";
}
