//! Writes the table of graph operations that patterns are checked against: one line for each
//! operation of the dialect's ODS, in the text form of `pattern::OpTable`.

use serde_json::Value;
use std::{error::Error, fs, path::Path, process::Command};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Writes `graph_ops.txt` into `out`.
pub fn write(prefix: &Path, out: &Path) -> Result<()> {
    let source = "dialects/graph/GraphOps.td";
    let mut command = Command::new(prefix.join("bin/llvm-tblgen"));
    command.args(["--dump-json", "-Idialects", "-I"]).arg(prefix.join("include")).arg(source);
    let output = command.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("llvm-tblgen --dump-json {source}: {message}").into());
    }
    let records: Value = serde_json::from_slice(&output.stdout)?;
    let ops = records["!instanceof"]["Op"].as_array().ok_or("no operations in the JSON")?;
    let mut lines = vec![];
    for name in ops.iter().filter_map(Value::as_str) {
        let op = &records[name];
        // Constants are values to patterns, and operations with regions are structure.
        let has = |wanted: &str| list(&op["traits"]).any(|t| t["def"] == wanted);
        let structure = list(&op["regions"]["args"]).next().is_some() || has("Terminator");
        if op["opDialect"]["def"] == "Graph_Dialect" && !structure && !has("ConstantLike") {
            lines.push(line(&records, op, has("Commutative")));
        }
    }
    lines.sort();
    let text = lines.join("\n") + "\n";
    let target = out.join("graph_ops.txt");
    if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
        fs::write(target, text)?;
    }
    Ok(())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// `conv(x, w, b?) -> y {strides: ints = [], group: int = 1}`
fn line(records: &Value, op: &Value, commutative: bool) -> String {
    let (mut operands, mut attrs) = (vec![], vec![]);
    for arg in list(&op["arguments"]["args"]) {
        let record = &records[arg[0]["def"].as_str().unwrap_or_default()];
        let name = arg[1].as_str().unwrap_or_default();
        if is(record, "AttrConstraint") {
            attrs.push(format!("{name}: {}", attribute(record)));
        } else {
            operands.push(format!("{name}{}", arity(record)));
        }
    }
    let results: Vec<String> = list(&op["results"]["args"])
        .map(|arg| {
            let record = &records[arg[0]["def"].as_str().unwrap_or_default()];
            let dots = if is(record, "Variadic") { "..." } else { "" };
            format!("{}{dots}", arg[1].as_str().unwrap_or_default())
        })
        .collect();
    let name = op["opName"].as_str().unwrap_or_default();
    let commutative = if commutative { " commutative" } else { "" };
    let mut line = format!("{name}({}){commutative}", operands.join(", "));
    if !results.is_empty() {
        line += &format!(" -> {}", results.join(", "));
    }
    if !attrs.is_empty() {
        line += &format!(" {{{}}}", attrs.join(", "));
    }
    line
}

fn is(record: &Value, class: &str) -> bool {
    list(&record["!superclasses"]).any(|name| name == class)
}

fn arity(record: &Value) -> &'static str {
    if is(record, "Variadic") {
        "..."
    } else if is(record, "Optional") {
        "?"
    } else {
        ""
    }
}

/// Type and default of an attribute.
fn attribute(record: &Value) -> String {
    let returns = record["returnType"].as_str().unwrap_or_default();
    let returns = returns.replace([' ', '>'], "").replace("::std::optional<", "");
    let kind = match returns.as_str() {
        "uint64_t" | "int64_t" => "int",
        "bool" => "bool",
        "::llvm::APFloat" => "float",
        "::llvm::StringRef" => "str",
        "::llvm::ArrayRef<int64_t" => "ints",
        "::llvm::ArrayRef<float" | "::llvm::ArrayRef<double" => "floats",
        "::mlir::Type" => "type",
        _ => "other",
    };
    let Some(default) = record["defaultValue"].as_str() else { return kind.to_owned() };
    let default = match kind {
        "float" => default.trim_end_matches('f').to_owned(),
        "ints" | "floats" => default.replace('{', "[").replace('}', "]"),
        _ => default.to_owned(),
    };
    format!("{kind} = {default}")
}
