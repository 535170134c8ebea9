//===- TirAttrs.td - Attributes and types of the tir dialect ----*- tablegen -*-===//

#ifndef PHL_TIR_ATTRS
#define PHL_TIR_ATTRS

include "tir/TirDialect.td"

class Tir_Attr<string name, string attrMnemonic> : AttrDef<Tir_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tir_SpaceAttr : Tir_Attr<"Space", "space"> {
  let summary = "A named memory space";
  let description = [{
    The memory space of a memref that lives in a device's own memory. The name
    is that of the pool which holds it; a memref without a memory space is in
    the host's memory.

    Example: `memref<8x16xf32, #tir.space<"scratchpad">>`
  }];
  let parameters = (ins StringRefParameter<"name of the pool">:$name);
  let assemblyFormat = "`<` $name `>`";
  let genVerifyDecl = 1;
}

def Tir_PoolAttr : Tir_Attr<"Pool", "pool"> {
  let summary = "A declared memory pool";
  let description = [{
    A pool of `bytes` bytes whose buffers all start at multiples of `alignment`
    (a power of two). Pools are declared in the array attribute `tir.pools` of a
    module or function.

    Example: `#tir.pool<"scratchpad", 65536, 64>`
  }];
  let parameters = (ins StringRefParameter<"name of the pool">:$name,
                        "int64_t":$bytes, "int64_t":$alignment);
  let assemblyFormat = "`<` $name `,` $bytes `,` $alignment `>`";
  let genVerifyDecl = 1;
}

def Tir_ArgGroup : I32EnumAttr<"ArgGroup", "operand group of tir.call_extern", [
    I32EnumAttrCase<"Scalars", 0, "scalars">,
    I32EnumAttrCase<"Ins", 1, "ins">,
    I32EnumAttrCase<"Outs", 2, "outs">,
    I32EnumAttrCase<"Scratch", 3, "scratch">]> {
  let cppNamespace = "::phl::tir";
  let genSpecializedAttr = 0;
}

def Tir_ArgMode : I32EnumAttr<"ArgMode", "passing convention of an operand", [
    I32EnumAttrCase<"Value", 0, "value">,
    I32EnumAttrCase<"Offset", 1, "offset">]> {
  let cppNamespace = "::phl::tir";
  let genSpecializedAttr = 0;
}

def Tir_ArgAttr : Tir_Attr<"Arg", "arg"> {
  let summary = "A C argument that is an operand of the call";
  let description = [{
    Names operand `index` of a group (`scalars`, `ins` or `outs`) of the
    `tir.call_extern` that holds it, or its scratch memory (`scratch 0`).

    By default a scalar is passed by value and a buffer as the address of its
    first element: `const T *` for `ins`, `T *` for `outs`, `void *` for
    scratch. With `offset` a buffer is passed as its byte offset in its memory
    space, which is how devices address their own memory.

    Examples: `#tir.arg<ins 0>`, `#tir.arg<outs 0, offset>`
  }];
  let parameters = (ins EnumParameter<Tir_ArgGroup>:$group, "int64_t":$index,
      DefaultValuedParameter<"::phl::tir::ArgMode",
                             "::phl::tir::ArgMode::Value">:$mode);
  let assemblyFormat = "`<` $group $index (`,` $mode^)? `>`";
  let genVerifyDecl = 1;
}

def Tir_StrideAttr : Tir_Attr<"Stride", "stride"> {
  let summary = "A C argument that is a stride of a buffer";
  let description = [{
    Number of elements between neighbours along dimension `dim` of operand
    `index` of a group (`ins` or `outs`), as a number of type `type`.
    Bufferization, which decides where a tensor is, puts the number in its
    place. Dimensions whose stride is not passed are adjacent in the buffer
    that the callee gets.

    Example: `#tir.stride<ins 0, 1, i64>`
  }];
  let parameters = (ins EnumParameter<Tir_ArgGroup>:$group, "int64_t":$index,
                        "int64_t":$dim, "::mlir::Type":$type);
  let assemblyFormat = "`<` $group $index `,` $dim `,` $type `>`";
  let genVerifyDecl = 1;
}

def Tir_NameAttr : Tir_Attr<"Name", "name"> {
  let summary = "A C argument that is a name known to the header";
  let description = [{
    An enumerator, macro or variable of the callee's header, printed as it is.

    Example: `#tir.name<"VANILLA_RELU">`
  }];
  let parameters = (ins StringRefParameter<"a C identifier">:$value);
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 1;
}

def Tir_StructAttr : Tir_Attr<"Struct", "struct"> {
  let summary = "A C argument that is the address of a constant struct";
  let description = [{
    A value of C type `name` with the given fields, passed as `const name *`.
    A field that is absent is zero, as C has it. A field holds whatever an
    argument may hold, or an array of literals. An operand inside a field is a
    scalar or is passed by `offset` or address like an argument.

    Example: `#tir.struct<"vanilla_pad", {top = 1 : i32, left = #tir.arg<scalars 0>}>`
  }];
  let parameters = (ins StringRefParameter<"C type">:$name,
                        "::mlir::DictionaryAttr":$fields);
  let assemblyFormat = "`<` $name `,` $fields `>`";
  let genVerifyDecl = 1;
}

def Tir_TokenType : TypeDef<Tir_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "A DMA transfer in flight";
  let description = [{
    Made by `tir.dma_start` and consumed by `tir.dma_wait`. It may be carried
    through loops; each token is to be waited for exactly once on every path.
  }];
}

#endif // PHL_TIR_ATTRS
