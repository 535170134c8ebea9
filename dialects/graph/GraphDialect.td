//===- GraphDialect.td - The dialect of whole networks ------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_DIALECT_TD
#define PHASELINE_GRAPH_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::phl::graph";
  let summary = "Neural networks as value-semantics tensor operations.";
  let description = [{
    One op has one documented meaning: that of the ONNX operator named in its
    description, at the opset named there. Passes, patterns and lowerings meet
    one form. The importer resolves differences between opsets, attributes that
    are optional only for brevity (`auto_pad`, defaulted axes, `output_shape`),
    and compositions of other ops.

    Tensors are builtin ranked tensors; any dimension may be dynamic. ONNX
    integers `int8..int64` are signless (`i8..i64`), `uint8..uint64` are unsigned
    (`ui8..ui64`), `bool` is `i1`.

    Every op infers its result types. A declared result type may know more or
    fewer dimensions than the inferred one, but may not contradict it.

    List attributes of windows (`strides`, `pads`, `dilations`) may be empty,
    which means all ones, all zeros and all ones.
  }];

  let hasConstantMaterializer = 1;

  // Each family of ops is generated and registered in a C++ file of its own:
  // one file with all of them takes minutes to compile.
  let extraClassDeclaration = [{
    void addUnaryOps();
    void addBinaryOps();
    void addNNOps();
    void addQuantOps();
    void addReduceOps();
    void addShapeOps();
    void addDataOps();
    void addStructureOps();
  }];
}

#endif // PHASELINE_GRAPH_DIALECT_TD
