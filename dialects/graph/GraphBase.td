//===- GraphBase.td - Types, attributes and op classes ------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_BASE_TD
#define PHASELINE_GRAPH_BASE_TD

include "graph/GraphDialect.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Tensor types
//===----------------------------------------------------------------------===//

defvar Graph_Floats = [F16, BF16, F32, F64];
defvar Graph_SmallFloats = [F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
                            F4E2M1FN];
defvar Graph_SignedInts = [I8, I16, I32, I64];
defvar Graph_UnsignedInts = [UI8, UI16, UI32, UI64];
defvar Graph_SmallInts = [I<2>, I<4>, UI<2>, UI<4>];
defvar Graph_Ints = !listconcat(Graph_SignedInts, Graph_UnsignedInts);
defvar Graph_Numbers = !listconcat(Graph_Floats, Graph_Ints);

def Graph_FloatTensor : RankedTensorOf<Graph_Floats>;
def Graph_IntTensor : RankedTensorOf<Graph_Ints>;
def Graph_UnsignedTensor : RankedTensorOf<Graph_UnsignedInts>;
def Graph_NumberTensor : RankedTensorOf<Graph_Numbers>;
def Graph_BoolTensor : RankedTensorOf<[I1]>;
def Graph_NumberOrBoolTensor : RankedTensorOf<!listconcat(Graph_Numbers, [I1])>;
def Graph_Tensor : RankedTensorOf<!listconcat(
    Graph_Numbers, [I1], Graph_SmallFloats, Graph_SmallInts)>;

// Element types of linear quantization: narrow integers and 8-bit floats.
def Graph_QuantTensor : RankedTensorOf<!listconcat(
    [I8, UI8, I16, UI16, I32], Graph_SmallInts, Graph_SmallFloats)>;
def Graph_Int8Tensor : RankedTensorOf<[I8, UI8]>;
def Graph_Quant8Tensor : RankedTensorOf<[
    I8, UI8, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ]>;
def Graph_F32Tensor : RankedTensorOf<[F32]>;
def Graph_I32Tensor : RankedTensorOf<[I32]>;
def Graph_UI8Tensor : RankedTensorOf<[UI8]>;

def Graph_I64Tensor : RankedTensorOf<[I64]>;
def Graph_IndexTensor : RankedTensorOf<[I32, I64]>;
// A list of sizes or positions, one per axis.
def Graph_I64List : TensorRankOf<[I64], [1]>;
def Graph_IndexList : TensorRankOf<[I32, I64], [1]>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Graph_Default<Attr attr, string value> : DefaultValuedAttr<attr, value>;

def Graph_False : Graph_Default<BoolAttr, "false">;
def Graph_True : Graph_Default<BoolAttr, "true">;
class Graph_I64<int value> : Graph_Default<I64Attr, "" # value>;
class Graph_F32<string value> : Graph_Default<F32Attr, value # "f">;
// An integer list which may be left out.
def Graph_I64s : Graph_Default<DenseI64ArrayAttr, "{}">;

class Graph_OneOfPred<string value> : CPred<
    "::llvm::cast<::mlir::StringAttr>($_self).getValue() == \"" # value # "\"">;
// One word of a closed list. Strings, not enums: the words are ONNX's own, and
// they read the same in the model, the text form and the error message.
class Graph_OneOf<list<string> values> : ConfinedAttr<StrAttr, [AttrConstraint<
    Or<!foreach(v, values, Graph_OneOfPred<v>)>,
    "one of " # !interleave(values, ", ")>]> {
  list<string> words = values;
}
// The first word is the default.
class Graph_Choice<list<string> values>
    : DefaultValuedStrAttr<Graph_OneOf<values>, !head(values)> {
  list<string> words = values;
}

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

// The example of an op whose class describes it.
class Graph_Example<string lines> {
  string text = "\n\nExample:\n\n```mlir\n" # lines # "\n```";
}
// An element type for the example of an op with operands of this type.
class Graph_ExampleElement<Type type> {
  string name = !cond(!eq(type, Graph_BoolTensor): "i1",
                      !eq(type, Graph_IntTensor): "i32",
                      !eq(type, Graph_UnsignedTensor): "ui32",
                      true: "f32");
}

// Declares `inferTypes`, the one place where an op states its shape rules. The
// checks in front of it make it safe on the unverified operands and attributes
// that builders pass in.
def Graph_NativeInfer : NativeOpTrait<"InfersTypes", [], [{
    static ::llvm::LogicalResult inferTypes(
        ::phl::graph::Infer &infer, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types);
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange declared) {
      return ::phl::graph::compatibleTypes(inferred, declared);
    }
  }], [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      ::phl::graph::Infer infer(context, location, getOperationName());
      if (failed(infer.checkOperands<$cppClass>(operands)))
        return ::mlir::failure();
      // Builders fill in defaults only after inference.
      using Props = std::remove_reference_t<
          decltype(std::declval<$cppClass>().getProperties())>;
      Props filled = properties ? *properties.as<Props *>() : Props();
      ::mlir::OperationName(getOperationName(), context)
          .populateDefaultProperties(::mlir::OpaqueProperties(&filled));
      $cppClass::Adaptor adaptor(operands, attributes,
                                 ::mlir::OpaqueProperties(&filled), regions);
      if (failed(infer.checkAdaptor<$cppClass>(adaptor, operands)))
        return ::mlir::failure();
      return $cppClass::inferTypes(infer, adaptor, types);
    }
  }]> {
  let cppNamespace = "::phl::graph";
}

class Graph_AnyOp<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, traits> {
  // Rust builds ops by name; the other C++ builders would only cost compile time.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins
      "::mlir::TypeRange":$types, "::mlir::ValueRange":$operands,
      CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attributes), [{
    $_state.addTypes(types);
    $_state.addOperands(operands);
    $_state.addAttributes(attributes);
  }]>];

  // Facts that costs, fusion, layouts and patterns go by; Rust has them as
  // `ir::view::OpInfo`.
  //
  // An element of the result depends on the elements at the same place of the
  // operands, after broadcasting, and on nothing else.
  bit elementwise = 0;
  // The result has the elements of the first operand in their order.
  bit view = 0;
  // The operand that windows slide over, `[N, C, D1, ..., Dn]`. Then an empty
  // list of strides, dilations or pads stands for ones or zeros.
  string image = "";
  // The operand that the image, or the first operand, is multiplied with.
  string weights = "";
  // Arithmetic operations for an element of the result; 0 if no element of an
  // operand is looked at. A polynomial or a table counts 15, two of them 30.
  int cost = 1;
  // All arithmetic operations as an expression of patterns over `self`, where
  // they do not go by elements of the result.
  string flops = "";
}

class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Graph_AnyOp<mnemonic, !listconcat(
        [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
         Graph_NativeInfer], traits)> {
  // The call that infers the types, where several ops share the rule; else
  // `inferTypes` is written in C++.
  string inference = "";
  let extraClassDefinition = !if(!empty(inference), "", [{
    ::llvm::LogicalResult $cppClass::inferTypes(
        ::phl::graph::Infer &infer, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::phl::graph::}] # inference # [{;
    }
  }]);

  // Text before the colon.
  string format = "operands";
  let assemblyFormat =
      format # " attr-dict `:` functional-type(operands, results)";
}

#endif // PHASELINE_GRAPH_BASE_TD
