//! The C++ of a dialect that is declared in ODS alone: registration of its operations, types and attributes, and its C
//! API.

use super::{Build, Dialect, Result};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// Bodies that a declaration may demand of C++, and that nothing is made for.
const BODIES: &[&str] = &["hasCanonicalizeMethod", "hasCustomAssemblyFormat"];

/// The C++ by which bodies in Rust are called.
const CALLS: &str = "\
extern \"C\" bool phlBodyVerify(MlirOperation op, bool regions);
extern \"C\" bool phlBodyFold(MlirOperation op, const MlirAttribute *operands, intptr_t count, MlirAttribute *attribute, MlirValue *value);
extern \"C\" void phlBodyPatterns(MlirRewritePatternSet patterns, MlirContext context, MlirStringRef name);
extern \"C\" bool phlBodyInfer(MlirContext context, MlirLocation location, MlirStringRef name, const MlirValue *operands, intptr_t count, MlirAttribute attributes, void (*push)(MlirType, void *), void *types);
template <typename OpTy>
static llvm::LogicalResult inferBody(mlir::MLIRContext *context, std::optional<mlir::Location> location, mlir::ValueRange operands, mlir::DictionaryAttr attributes, mlir::OpaqueProperties properties, llvm::SmallVectorImpl<mlir::Type> &types) {
  mlir::NamedAttrList all(attributes);
  using Properties = typename OpTy::template InferredProperties<OpTy>;
  if constexpr (!std::is_same_v<Properties, mlir::EmptyProperties>) {
    if (properties)
      if (auto own = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(OpTy::getPropertiesAsAttr(context, *properties.as<Properties *>())))
        for (mlir::NamedAttribute one : own)
          all.set(one.getName(), one.getValue());
  }
  llvm::SmallVector<MlirValue> ins;
  for (mlir::Value operand : operands)
    ins.push_back(wrap(operand));
  MlirLocation place = {nullptr};
  if (location)
    place = wrap(*location);
  auto push = [](MlirType type, void *to) {
    static_cast<llvm::SmallVectorImpl<mlir::Type> *>(to)->push_back(unwrap(type));
  };
  mlir::Attribute dictionary = all.getDictionary(context);
  return llvm::success(phlBodyInfer(wrap(context), place, wrap(OpTy::getOperationName()), ins.data(), ins.size(), wrap(dictionary), push, &types));
}
template <typename OpTy>
static llvm::LogicalResult inferBody(mlir::MLIRContext *context, std::optional<mlir::Location> location, typename OpTy::Adaptor adaptor, llvm::SmallVectorImpl<mlir::Type> &types) {
  using Properties = typename OpTy::template InferredProperties<OpTy>;
  mlir::OpaqueProperties properties = nullptr;
  if constexpr (!std::is_same_v<Properties, mlir::EmptyProperties>)
    properties = const_cast<Properties *>(&adaptor.getProperties());
  return inferBody<OpTy>(context, location, adaptor.getOperands(), adaptor.getAttributes(), properties, types);
}
static bool fitting(mlir::TypeRange inferred, mlir::TypeRange given) {
  if (inferred.size() != given.size())
    return false;
  for (auto [a, b] : llvm::zip(inferred, given))
    if (mlir::getElementTypeOrSelf(a) != mlir::getElementTypeOrSelf(b))
      return false;
  return mlir::succeeded(mlir::verifyCompatibleShapes(inferred, given));
}
static mlir::OpFoldResult foldBody(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands) {
  llvm::SmallVector<MlirAttribute> ins;
  for (mlir::Attribute operand : operands)
    ins.push_back(wrap(operand));
  MlirAttribute attribute = {nullptr};
  MlirValue value = {nullptr};
  if (!phlBodyFold(wrap(op), ins.data(), ins.size(), &attribute, &value))
    return {};
  if (value.ptr)
    return unwrap(value);
  return unwrap(attribute);
}
";

/// Headers of what declarations use.
const HEADERS: &[&str] = &[
    "mlir/Bytecode/BytecodeOpInterface.h",
    "mlir/CAPI/IR.h",
    "mlir/CAPI/Registration.h",
    "mlir/CAPI/Rewrite.h",
    "mlir/CAPI/Support.h",
    "mlir/IR/Builders.h",
    "mlir/IR/BuiltinTypes.h",
    "mlir/IR/Dialect.h",
    "mlir/IR/DialectImplementation.h",
    "mlir/IR/OpDefinition.h",
    "mlir/IR/OpImplementation.h",
    "mlir/IR/PatternMatch.h",
    "mlir/IR/SymbolTable.h",
    "mlir/IR/TypeUtilities.h",
    "mlir/Interfaces/CallInterfaces.h",
    "mlir/Interfaces/ControlFlowInterfaces.h",
    "mlir/Interfaces/DestinationStyleOpInterface.h",
    "mlir/Interfaces/FunctionInterfaces.h",
    "mlir/Interfaces/InferTypeOpInterface.h",
    "mlir/Interfaces/LoopLikeInterface.h",
    "mlir/Interfaces/SideEffectInterfaces.h",
    "mlir/Interfaces/ViewLikeInterface.h",
    "llvm/ADT/TypeSwitch.h",
];

/// Writes `NAME/STEM.cpp` for the dialect `name` of the records of a file.
///
/// # Errors
/// The file declares no dialect of that name, or an operation has bodies in C++.
pub fn write(build: &Build, records: &Value, source: PathBuf, name: &str) -> Result<Dialect> {
    let place = source.display();
    let named = |class: &str| {
        let list = records["!instanceof"][class].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let record = named("Dialect").into_iter().find(|record| records[record]["name"] == name);
    let record = record.ok_or_else(|| format!("{place} declares no dialect named {name:?}"))?;
    let stem = record.strip_suffix("_Dialect").ok_or_else(|| {
        format!("{place}: the record of the dialect is {record}; call it STEM_Dialect")
    })?;
    let own = |class: &str, field: &str| -> Vec<String> {
        let all = named(class).into_iter();
        all.filter(|one| records[one][field]["def"] == record.as_str()).collect()
    };
    let ops = own("Op", "opDialect");
    for op in &ops {
        if let Some(body) = BODIES.iter().find(|body| records[op][**body] == 1) {
            return Err(format!(
                "{place}: {op} has {body}, whose body is C++: write it, with the dialect's, in a folder that \
                 Build::dialect is given, or leave it out"
            )
            .into());
        }
    }
    let bodies: Vec<_> = ops
        .iter()
        .map(|op| bodies(records, op, &record, &place.to_string()))
        .collect::<Result<_>>()?;
    let mut bodies = bodies.concat();
    let space = records[&record]["cppNamespace"].as_str().unwrap_or_default();
    let space = space.trim_start_matches("::").to_owned();
    let class = record.replace('_', "");
    if records[&record]["hasConstantMaterializer"] == 1 {
        let constant = ops.iter().find(|op| has_trait(records, op, "ConstantLike"));
        let constant = constant.ok_or_else(|| {
            format!(
                "{place}: {record} has hasConstantMaterializer, and no operation is ConstantLike"
            )
        })?;
        let mnemonic = records[constant]["opName"].as_str().unwrap_or_default();
        bodies.push_str(&format!(
            "mlir::Operation *{space}::{class}::materializeConstant(mlir::OpBuilder &builder, mlir::Attribute value, \
             mlir::Type type, mlir::Location location) {{\n  \
             mlir::OperationState state(location, \"{name}.{mnemonic}\");\n  state.addTypes(type);\n  \
             state.addAttribute(\"{}\", value);\n  return builder.create(state);\n}}\n",
            constant_value(records, constant, &place.to_string())?
        ));
    }
    let has = [own("TypeDef", "dialect"), own("AttrDef", "dialect")].map(|list| !list.is_empty());
    let headers: String = HEADERS.iter().map(|header| format!("#include \"{header}\"\n")).collect();
    let part = |wanted: bool, list: &str, file: &str| match wanted {
        true => format!("#define GET_{list}_CLASSES\n#include \"{name}/{stem}{file}.inc\"\n"),
        false => String::new(),
    };
    let adding = |wanted: bool, call: &str, list: &str, file: &str| match wanted {
        true => format!(
            "  {call}<\n#define GET_{list}_LIST\n#include \"{name}/{stem}{file}.inc\"\n  >();\n"
        ),
        false => String::new(),
    };
    let [types, attrs] = has;
    let text = format!(
        "// Made by phaseline-build.\n{headers}\
         #include \"{name}/{stem}Enums.h.inc\"\n#include \"{name}/{stem}Dialect.h.inc\"\n\
         {attrs_decl}{types_decl}{ops_decl}\
         #include \"{name}/{stem}Dialect.cpp.inc\"\n#include \"{name}/{stem}Enums.cpp.inc\"\n\
         {attrs_def}{types_def}{ops_def}\
         {calls}{bodies}void {space}::{class}::initialize() {{\n{add_attrs}{add_types}{add_ops}}}\n\
         extern \"C\" MlirDialectHandle mlirGetDialectHandle__{name}__();\n\
         MLIR_DEFINE_CAPI_DIALECT_REGISTRATION({class}, {name}, {space}::{class})\n",
        calls = if bodies.is_empty() { "" } else { CALLS },
        attrs_decl = part(attrs, "ATTRDEF", "Attrs.h"),
        types_decl = part(types, "TYPEDEF", "Types.h"),
        ops_decl = part(!ops.is_empty(), "OP", "Ops.h"),
        attrs_def = part(attrs, "ATTRDEF", "Attrs.cpp"),
        types_def = part(types, "TYPEDEF", "Types.cpp"),
        ops_def = part(!ops.is_empty(), "OP", "Ops.cpp"),
        add_attrs = adding(attrs, "addAttributes", "ATTRDEF", "Attrs.cpp"),
        add_types = adding(types, "addTypes", "TYPEDEF", "Types.cpp"),
        add_ops = adding(!ops.is_empty(), "addOperations", "OP", "Ops.cpp"),
    );
    let folder = build.out.join(name);
    fs::create_dir_all(&folder)?;
    let target = folder.join(format!("{stem}.cpp"));
    if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
        fs::write(target, text)?;
    }
    Ok(Dialect { folder, source, name: name.to_owned(), stem: stem.to_owned() })
}

fn has_trait(records: &Value, op: &str, wanted: &str) -> bool {
    records[op]["traits"].as_array().into_iter().flatten().any(|one| one["def"] == wanted)
}

/// The interfaces whose methods an operation declares.
fn declared(records: &Value, op: &str) -> Vec<String> {
    let declares = traits(records, op).filter(|one| {
        let mut kinds = one["!superclasses"].as_array().into_iter().flatten();
        kinds.any(|kind| kind == "DeclareInterfaceMethods")
    });
    declares.map(|one| one["cppInterfaceName"].as_str().unwrap_or_default().to_owned()).collect()
}

/// True if a trait of an operation declares something in its class.
fn declares(records: &Value, op: &str, text: &str) -> bool {
    let mut extra =
        traits(records, op).filter_map(|one| one["extraConcreteClassDeclaration"].as_str());
    extra.any(|extra| extra.contains(text))
}

/// The traits of an operation, also those of lists of traits.
fn traits<'a>(records: &'a Value, op: &str) -> impl Iterator<Item = &'a Value> {
    let of = |record: &'a Value| {
        let traits = record["traits"].as_array().into_iter().flatten();
        traits.map(|one| &records[one["def"].as_str().unwrap_or_default()])
    };
    of(&records[op]).flat_map(move |one| {
        let kinds = one["!superclasses"].as_array().into_iter().flatten();
        match kinds.into_iter().any(|kind| kind == "TraitList") {
            true => of(one).collect(),
            false => vec![one],
        }
    })
}

/// The name of the one attribute of a constant.
///
/// # Errors
/// It has none, or several.
fn constant_value(records: &Value, op: &str, place: &str) -> Result<String> {
    let arguments = records[op]["arguments"]["args"].as_array();
    match arguments.map(Vec::as_slice) {
        Some([only]) => Ok(only[1].as_str().unwrap_or_default().to_owned()),
        _ => Err(format!(
            "{place}: {op} is ConstantLike, and has other arguments than one attribute"
        )
        .into()),
    }
}

/// The C++ of the bodies of an operation: each calls Rust.
fn bodies(records: &Value, op: &str, dialect: &str, place: &str) -> Result<String> {
    let record = &records[op];
    let says = |flag: &str| record[flag] == 1;
    let space = record["opDialect"]["def"].as_str().unwrap_or(dialect);
    let space = records[space]["cppNamespace"].as_str().unwrap_or_default();
    let space = space.trim_start_matches("::");
    let class = op.split_once('_').map_or(op, |(_, class)| class);
    let class = format!("{space}::{class}");
    let mut text = String::new();
    for (flag, method, regions) in
        [("hasVerifier", "verify", false), ("hasRegionVerifier", "verifyRegions", true)]
    {
        if says(flag) {
            text.push_str(&format!(
                "llvm::LogicalResult {class}::{method}() {{\n  \
                 return llvm::success(phlBodyVerify(wrap(getOperation()), {regions}));\n}}\n"
            ));
        }
    }
    if says("hasCanonicalizer") {
        text.push_str(&format!(
            "void {class}::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns, mlir::MLIRContext *context) \
             {{\n  phlBodyPatterns(wrap(&patterns), wrap(context), wrap(getOperationName()));\n}}\n"
        ));
    }
    for interface in declared(records, op) {
        if interface != "InferTypeOpInterface" {
            return Err(format!(
                "{place}: {op} declares methods of {interface}, whose bodies are C++: write them, with the dialect's, in \
                 a folder that Build::dialect is given; InferTypeOpInterface has its body in Rust"
            )
            .into());
        }
        let (parameters, arguments) = match declares(records, op, "Adaptor adaptor") {
            true => ("Adaptor adaptor", "adaptor"),
            false => (
                "mlir::ValueRange operands, mlir::DictionaryAttr attributes, mlir::OpaqueProperties properties, \
                 mlir::RegionRange",
                "operands, attributes, properties",
            ),
        };
        text.push_str(&format!(
            "llvm::LogicalResult {class}::inferReturnTypes(mlir::MLIRContext *context, std::optional<mlir::Location> \
             location, {parameters}, llvm::SmallVectorImpl<mlir::Type> &types) {{\n  return inferBody<{class}>(context, \
             location, {arguments}, types);\n}}\n"
        ));
        if declares(records, op, "isCompatibleReturnTypes") {
            text.push_str(&format!(
                "bool {class}::isCompatibleReturnTypes(mlir::TypeRange inferred, mlir::TypeRange given) {{\n  \
                 return fitting(inferred, given);\n}}\n"
            ));
        }
    }
    if says("hasFolder") {
        let results = record["results"]["args"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_one = matches!(results, [only] if {
            let kinds = &records[only[0]["def"].as_str().unwrap_or_default()]["!superclasses"];
            let mut kinds = kinds.as_array().into_iter().flatten();
            !kinds.any(|kind| kind == "Variadic" || kind == "Optional")
        });
        if !is_one {
            return Err(format!(
                "{place}: {op} has hasFolder, whose body in Rust gives one result: leave it out, and write a rule"
            )
            .into());
        }
        let value = match has_trait(records, op, "ConstantLike") {
            true => format!("(*this)->getAttr(\"{}\")", constant_value(records, op, place)?),
            false => "foldBody(getOperation(), adaptor.getOperands())".to_owned(),
        };
        text.push_str(&format!(
            "mlir::OpFoldResult {class}::fold(FoldAdaptor adaptor) {{\n  return {value};\n}}\n"
        ));
    }
    Ok(text)
}
