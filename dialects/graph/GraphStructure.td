//===- GraphStructure.td - Composites -----------------------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_STRUCTURE_TD
#define PHASELINE_GRAPH_STRUCTURE_TD

include "graph/GraphBase.td"
include "mlir/IR/OpAsmInterface.td"

def Graph_CompositeOp : Graph_AnyOp<"composite", [
    IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects,
    RecursivelySpeculatable, DeclareOpInterfaceMethods<
        OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Ops that a target takes as one, and what they mean";
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

def Graph_YieldOp : Graph_AnyOp<"yield", [Pure, Terminator,
                                          HasParent<"CompositeOp">]> {
  let summary = "Ends the region of a composite with its results";
  let description = [{
    Gives the values that the enclosing `graph.composite` results in.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // PHASELINE_GRAPH_STRUCTURE_TD
