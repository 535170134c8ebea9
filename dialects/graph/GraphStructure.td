//===- GraphStructure.td - Composites and loops -------------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_STRUCTURE_TD
#define PHASELINE_GRAPH_STRUCTURE_TD

include "graph/GraphBase.td"
include "mlir/IR/OpAsmInterface.td"

def Graph_CompositeOp : Graph_AnyOp<"composite", [
    IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects,
    RecursivelySpeculatable, DeclareOpInterfaceMethods<
        OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Group of operations that a target takes as one";
  let description = [{
    Stands for one operation `name` of `target`. The region is its
    decomposition: it computes the same from the same operands, given to it as
    block arguments, in ops that every target can lower. A target may therefore
    decline a composite at any time: it is replaced by its region.

    `config` holds what the target noted when it made the composite.

    ```mlir
    %y = graph.composite "vanilla.conv2d_relu" target("vanilla")
        (%a = %x, %b = %w)
        : (tensor<1x8x8x8xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x8x8xf32> {
      %0 = graph.conv %a, %b
          : (tensor<1x8x8x8xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x8x8xf32>
      %1 = graph.relu %0 : tensor<1x4x8x8xf32>
      graph.yield %1 : tensor<1x4x8x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$name,
                       StrAttr:$target, OptionalAttr<DictionaryAttr>:$config);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$decomposition);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Graph_CustomOp : Graph_AnyOp<"custom", [
    IsolatedFromAbove, SingleBlock, Pure]> {
  let summary = "Operator of a vendor";
  let description = [{
    The operator `name` of `domain`, which the manifest of a target declares
    (`[[operator]]`): what operands, parameters and results it has. `groups` is
    the number of operands for each that is declared: 0 for one that is absent.
    An empty list stands for one each.

    The region, if there is one, is its reference: it computes the same from
    the same operands, given to it as block arguments, in ops that every target
    can lower. An operator that no target takes is replaced by its region.

    ```mlir
    %y = graph.custom "Swish" of "com.acme" (%x) parameters {beta = 1.5 : f32}
        : (tensor<4xf32>) -> tensor<4xf32>
    %z = graph.custom "Gate" of "com.acme" (%y)
        : (tensor<4xf32>) -> tensor<4xf32> reference {
    ^bb0(%a: tensor<4xf32>):
      %0 = graph.sigmoid %a : tensor<4xf32>
      graph.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$name,
                       StrAttr:$domain,
                       OptionalAttr<DictionaryAttr>:$parameters,
                       Graph_I64s:$groups);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region MaxSizedRegion<1>:$reference);
  let assemblyFormat = [{
    $name `of` $domain ` ` `(` $inputs `)` (`parameters` $parameters^)?
    attr-dict `:` functional-type($inputs, $outputs) (`reference` $reference^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Graph_ScanOp : Graph_AnyOp<"scan", [
    AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock,
    RecursiveMemoryEffects, RecursivelySpeculatable,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Loop with a number of steps, or at most as many";
  let description = [{
    Runs its region `steps` times, or `limit` times where that is fewer: a
    number that is known at run time, and is none if it is below zero. With `?`
    for `steps` it runs once for each slice of its sequences. The arguments of
    the region are the states, then one slice of each sequence, then the
    captured values. It yields the states of the next step, then one slice of
    each collected result. The
    results are the states after the last step, then the collected tensors.

    A step sees the sequence without the dimension `input_axes` of it, at the
    number of the step, or counted from the end where `input_reversed` is 1.
    Slices are collected along a new dimension `output_axes` of the result,
    from the end where `output_reversed` is 1. Lists that are empty mean 0
    everywhere. Axes are counted from 0. The end is that of the steps that run;
    slices of steps that do not run have no particular values.

    The region is isolated: what it uses from outside is captured. States keep
    their types from step to step. A dimension of a state that changes is `?`,
    also where the first state has a number.

    ```mlir
    // All sums of the rows up to each one, and the last of them.
    %last, %all = graph.scan 64 states (%sum = %zero) sequences (%row = %x)
        captures () : (tensor<4xf32>, tensor<64x4xf32>)
        -> (tensor<4xf32>, tensor<64x4xf32>) {
      %next = graph.add %sum, %row : tensor<4xf32>
      graph.yield %next, %next : tensor<4xf32>, tensor<4xf32>
    }
    // The sum of the first %n rows.
    %sum_of_n = graph.scan 64 limit %n states (%sum = %zero)
        sequences (%row = %x) captures ()
        : (tensor<4xf32>, tensor<64x4xf32>, tensor<i64>) -> tensor<4xf32> {
      %next = graph.add %sum, %row : tensor<4xf32>
      graph.yield %next : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$states,
                       Variadic<Graph_Tensor>:$sequences,
                       Variadic<Graph_Tensor>:$captured,
                       Optional<0DTensorOf<[I64]>>:$limit,
                       I64Attr:$steps,
                       Graph_I64s:$input_axes, Graph_I64s:$input_reversed,
                       Graph_I64s:$output_axes, Graph_I64s:$output_reversed);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange declared);

    /// An element of a list of axes or directions, where an empty one is zeros.
    static int64_t entry(::llvm::ArrayRef<int64_t> list, size_t index) {
      return index < list.size() ? list[index] : 0;
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Graph_YieldOp : Graph_AnyOp<"yield", [
    Pure, Terminator, ParentOneOf<["CompositeOp", "CustomOp", "ScanOp"]>]> {
  let summary = "Results of the region of a composite, an operator or a loop";
  let description = [{
    Gives the values that the enclosing `graph.composite` or `graph.custom`
    results in, or those that a step of the enclosing `graph.scan` ends with.

    Example:

    ```mlir
    %y = graph.composite "npu.relu" target("npu") (%a = %x)
        : (tensor<4xf32>) -> tensor<4xf32> {
      %0 = graph.relu %a : tensor<4xf32>
      graph.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // PHASELINE_GRAPH_STRUCTURE_TD
