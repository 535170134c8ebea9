//! The C++ of a dialect that is declared in ODS alone: registration of its operations, types and attributes, and its C
//! API.

use super::{Build, Dialect, Result};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// Bodies that a declaration may demand of C++.
const BODIES: &[&str] = &[
    "hasVerifier",
    "hasRegionVerifier",
    "hasFolder",
    "hasCanonicalizer",
    "hasCanonicalizeMethod",
    "hasCustomAssemblyFormat",
];

/// Headers of what declarations use.
const HEADERS: &[&str] = &[
    "mlir/Bytecode/BytecodeOpInterface.h",
    "mlir/CAPI/Registration.h",
    "mlir/IR/Builders.h",
    "mlir/IR/BuiltinTypes.h",
    "mlir/IR/Dialect.h",
    "mlir/IR/DialectImplementation.h",
    "mlir/IR/OpDefinition.h",
    "mlir/IR/OpImplementation.h",
    "mlir/IR/SymbolTable.h",
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
    let space = records[&record]["cppNamespace"].as_str().unwrap_or_default();
    let space = space.trim_start_matches("::").to_owned();
    let class = record.replace('_', "");
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
         void {space}::{class}::initialize() {{\n{add_attrs}{add_types}{add_ops}}}\n\
         extern \"C\" MlirDialectHandle mlirGetDialectHandle__{name}__();\n\
         MLIR_DEFINE_CAPI_DIALECT_REGISTRATION({class}, {name}, {space}::{class})\n",
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
