//===- TirOps.td - Operations of the tir dialect ----------------*- tablegen -*-===//

#ifndef PHL_TIR_OPS
#define PHL_TIR_OPS

include "tir/TirAttrs.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tir_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tir_Dialect, mnemonic, traits>;

def Tir_Scalar : AnyTypeOf<[AnySignlessInteger, Index, AnyFloat],
                           "integer, index or float">;
def Tir_Buffer : AnyTypeOf<[AnyRankedTensor, AnyMemRef],
                           "ranked tensor or memref">;

def Tir_CallExternOp : Tir_Op<"call_extern", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
        ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
         "getAliasingValues", "bufferize"]>]> {
  let summary = "Call a C function that writes its results to given memory";
  let description = [{
    Calls the C function `callee`. `args` lists every argument of the C function
    in order; each is one of

    - `#tir.arg<GROUP INDEX>`: an operand of the call, or its scratch memory;
    - an integer or float attribute: a literal of that type;
    - `#tir.name<"X">`: an enumerator or macro of the header;
    - `#tir.struct<"T", {...}>`: the address of a constant struct;
    - `#tir.stride<GROUP INDEX, DIM, TYPE>`: a stride of a buffer.

    The operation has destination-passing style. On tensors each of `outs` is
    tied to a result; on memrefs there are no results. The callee reads `ins`
    and overwrites the whole of `outs`. With `accumulate` what was in `outs`
    matters too: the callee adds to it or leaves parts of it alone.

    Buffers are passed as bare addresses, so on memrefs each must be contiguous
    and row-major (any offset); bufferization copies where it cannot show that.
    With `strided` the callee accepts any strides and is told them in `args`.

    - `with_device`: the device handle of the target is the first C argument, before
      those in `args`. The call then also reads and writes the device's state.
    - `returns_status`: the C function returns `int`, 0 on success; any other
      value ends the calling function with that status. Else it returns nothing.
    - `keeps`: those of `ins` that `args` does not pass are in use until the
      call returns, such as memory that a device still reads for which the call
      waits.
    - `header`: the header that declares the function, for `#include`.
    - `prototype`: the declaration as C text, where there is no header, and for
      the reader.
    - `scratch_bytes`: size of the working memory that the call needs, passed
      where `args` has `#tir.arg<scratch 0>`.

    Example:

    ```mlir
    %r = tir.call_extern @npu_add(%n : i32)
        ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<8xf32>)
        args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>,
              #tir.arg<scalars 0>]
        {header = "npu.h", returns_status} -> tensor<8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
      Variadic<Tir_Scalar>:$scalars, Variadic<Tir_Buffer>:$ins,
      Variadic<Tir_Buffer>:$outs, ArrayAttr:$args,
      OptionalAttr<StrAttr>:$header, OptionalAttr<StrAttr>:$prototype,
      OptionalAttr<I64Attr>:$scratch_bytes, UnitAttr:$with_device,
      UnitAttr:$returns_status, UnitAttr:$accumulate, UnitAttr:$strided,
      UnitAttr:$keeps);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee (`(` $scalars^ `:` type($scalars) `)`)?
    (`ins` `(` $ins^ `:` type($ins) `)`)?
    (`outs` `(` $outs^ `:` type($outs) `)`)?
    `args` $args attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The operands that the callee writes.
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// True if a buffer of `type` can be passed as a bare address.
    static bool isPassable(::mlir::MemRefType type);
  }];
}

def Tir_ConcatOp : Tir_Op<"concat", [
    DestinationStyleOpInterface, Pure,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
        ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
         "getAliasingValues", "bufferize"]>]> {
  let summary = "Put many tensors one after the other";
  let description = [{
    The tensors of `ins` one after the other along dimension `dim`, which fill
    `out` exactly. Bufferization makes it one copy for each of `ins`.

    A chain of `tensor.insert_slice` says the same and lets producers write
    straight into the result. Its bufferization takes time that grows with the
    third power of its length. This operation is for concatenations that are too
    long for a chain.

    Example:

    ```mlir
    %r = tir.concat dim(0) ins(%a, %b : tensor<2x4xf32>, tensor<3x4xf32>)
        outs(%d : tensor<5x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
      Variadic<AnyStaticShapeTensor>:$ins, AnyStaticShapeTensor:$out);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    `dim` `(` $dim `)` `ins` `(` $ins `:` type($ins) `)`
    `outs` `(` $out `:` type($out) `)` attr-dict `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
}

class Tir_ChannelOp<string mnemonic, list<Trait> traits>
    : Tir_Op<mnemonic, traits # [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
}

def Tir_DmaStartOp : Tir_ChannelOp<"dma_start", [AttrSizedOperandSegments]> {
  let summary = "Start copying a buffer to another memory";
  let description = [{
    Starts to copy `source` to `target` on a DMA channel of the function's
    device and goes on. Until the token is waited for, `source` must not be
    written and `target` not be touched.

    Both have the same shape and element type, rank 4 at most, and static
    strides; offsets may be dynamic. The channel is a number or an index value.

    With `given` the device changes elements on the way, as when it stores sums
    as int8, and element types may differ. `given` has what the transfer's
    function is told by name: numbers, and as `#tir.arg<ins N>` which of `with`
    is an array.

    Example:

    ```mlir
    %t = tir.dma_start %tile to %spad channel(0)
        : memref<8x16xf32, strided<[64, 1], offset: ?>>
        to memref<8x16xf32, #tir.space<"scratchpad">>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, AnyMemRef:$target,
                       Optional<Index>:$channel,
                       Variadic<AnyMemRef>:$with,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$static_channel,
                       OptionalAttr<DictionaryAttr>:$given);
  let results = (outs Tir_TokenType:$token);
  let assemblyFormat = [{
    $source `to` $target `channel` `(` custom<Channel>($channel, $static_channel) `)`
    (`with` `(` $with^ `:` type($with) `)`)? (`given` $given^)? attr-dict `:` type($source) `to` type($target)
  }];
}

def Tir_DmaCopyOp : Tir_ChannelOp<"dma_copy", []> {
  let summary = "Copy a buffer to another memory and wait";
  let description = [{
    Like `tir.dma_start` followed at once by `tir.dma_wait`.

    Example:

    ```mlir
    tir.dma_copy %spad to %tile channel(1)
        : memref<64xf32, #tir.space<"scratchpad">> to memref<64xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, AnyMemRef:$target,
                       Optional<Index>:$channel,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$static_channel);
  let assemblyFormat = [{
    $source `to` $target `channel` `(` custom<Channel>($channel, $static_channel) `)`
    attr-dict `:` type($source) `to` type($target)
  }];
}

def Tir_DmaWaitOp : Tir_Op<"dma_wait", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Wait until a DMA transfer is done";
  let description = [{
    Returns when the transfer of `token` is complete. What it copied may be read
    only after this, so no access to memory moves across it.

    Example:

    ```mlir
    tir.dma_wait %token
    ```
  }];
  let arguments = (ins Tir_TokenType:$token);
  let assemblyFormat = "$token attr-dict";
}

def Tir_SubmitOp : Tir_Op<"submit", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Take a ticket for all that was started on a queue";
  let description = [{
    The device's ticket that is done when all is that was started on `queue` of the
    device before, stored in an element of `tickets`. `callee` is the function of the
    device that takes it. A slot is written once in a run of the function.

    Example:

    ```mlir
    tir.submit @dsp_submit_0 queue 1 to %tickets[3] : memref<8xi64>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$queue,
      MemRefRankOf<[I64], [1]>:$tickets,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$slot);
  let assemblyFormat = [{
    $callee `queue` $queue `to` $tickets `[` $slot `]` attr-dict `:` type($tickets)
  }];
  let hasVerifier = 1;
}

def Tir_WaitOp : Tir_Op<"wait", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Wait for a ticket";
  let description = [{
    Returns when the ticket is done that `tir.submit` stored. With `queue` the host
    goes on at once, and what is started on that queue afterwards begins when the
    ticket is done. Buffers of `keeps` are in use until then.

    Example:

    ```mlir
    tir.wait @dsp_wait_for_0 for %tickets[3] : memref<8xi64>
    tir.wait @dsp_after_0 queue 0 for %tickets[3] : memref<8xi64>
    tir.wait @dsp_wait_for_0 for %tickets[2] : memref<8xi64> keeps(%y : memref<16xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$queue,
      MemRefRankOf<[I64], [1]>:$tickets,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$slot,
      Variadic<AnyMemRef>:$keeps);
  let assemblyFormat = [{
    $callee (`queue` $queue^)? `for` $tickets `[` $slot `]` attr-dict `:` type($tickets)
    (`keeps` `(` $keeps^ `:` type($keeps) `)`)?
  }];
  let hasVerifier = 1;
}

def Tir_BufferOp : Tir_Op<"buffer", [Pure]> {
  let summary = "A buffer at a planned place of a pool";
  let description = [{
    The memory at byte `offset` of the pool that the result's `#tir.space`
    names. Memory planning puts it in place of an allocation. If an enclosing
    operation declares the pool in `tir.pools`, the buffer must be aligned and
    fit. Two such buffers may overlap if the planner found that their lifetimes
    do not.

    Example:

    ```mlir
    %b = tir.buffer at 4096 : memref<8x16xf32, #tir.space<"scratchpad">>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$offset);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = "`at` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // PHL_TIR_OPS
