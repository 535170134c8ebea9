//! Writes Rust for the operations of a dialect from its ODS: a typed view of each, and a table of
//! all that ODS says about them. The module `view` of the toolkit has what the generated code is built on.

use super::{Build, Dialect, Result};
use serde_json::Value;
use std::{fmt::Write, fs, path::Path, process::Command};

/// All records of a `.td` file.
pub fn records(build: &Build, source: &Path) -> Result<Value> {
    let mut command = Command::new(build.prefix.join("bin/llvm-tblgen"));
    command.arg("--dump-json").args(build.include_flags()).arg(source);
    let output = command.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("llvm-tblgen --dump-json {}: {message}", source.display()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Writes `NAME_views.rs` for a dialect.
pub fn write(build: &Build, dialect: &Dialect) -> Result<()> {
    let Dialect { source, name, stem, .. } = dialect;
    let records = records(build, source)?;
    let names = records["!instanceof"]["Op"].as_array().ok_or("no operations in the JSON")?;
    let mut ops: Vec<Op> = names
        .iter()
        .filter_map(Value::as_str)
        .filter(|op| records[op]["opDialect"]["def"] == format!("{stem}_Dialect"))
        .map(|op| Op::read(&records, op, name, stem))
        .collect::<Result<_>>()?;
    ops.sort_by(|a, b| a.mnemonic.cmp(&b.mnemonic));
    let mut text = "phaseline_toolkit::adaptors!();\n".to_owned();
    for op in &ops {
        op.view(&mut text)?;
        op.info(&mut text)?;
    }
    writeln!(text, "/// All operations of the dialect, by name.")?;
    writeln!(text, "pub static OPS: &[&OpInfo] = &[")?;
    for op in &ops {
        writeln!(text, "    &{},", op.constant())?;
    }
    writeln!(text, "];")?;
    let target = build.out.join(format!("{name}_views.rs"));
    if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
        fs::write(target, text)?;
    }
    Ok(())
}

/// An operation, as ODS has it.
struct Op {
    dialect: String,
    mnemonic: String,
    class: String,
    summary: String,
    description: String,
    operands: Vec<Operand>,
    results: Vec<Operand>,
    attributes: Vec<Attribute>,
    regions: bool,
    segments: bool,
    infers: bool,
    commutative: bool,
    structure: bool,
    facts: Value,
}

struct Operand {
    name: String,
    summary: String,
    arity: &'static str,
}

struct Attribute {
    name: String,
    summary: String,
    kind: Kind,
    optional: bool,
    default: Option<String>,
    words: Vec<String>,
}

/// Access to an attribute: the Rust type, and the names of helpers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Bool,
    Unit,
    Float,
    Str,
    Symbol,
    Ints,
    Type,
    Other,
}

impl Op {
    fn read(records: &Value, record: &str, dialect: &str, stem: &str) -> Result<Self> {
        let op = &records[record];
        let text = |field: &str| op[field].as_str().unwrap_or_default().to_owned();
        let has = |wanted: &str| list(&op["traits"]).any(|t| t["def"] == wanted);
        let (mut operands, mut attributes) = (vec![], vec![]);
        for arg in list(&op["arguments"]["args"]) {
            let constraint = &records[arg[0]["def"].as_str().unwrap_or_default()];
            let name = arg[1].as_str().unwrap_or_default();
            if is(constraint, "AttrConstraint") {
                attributes.push(Attribute::read(constraint, name));
            } else {
                operands.push(Operand::read(constraint, name));
            }
        }
        let results = list(&op["results"]["args"]).map(|arg| {
            let constraint = &records[arg[0]["def"].as_str().unwrap_or_default()];
            Operand::read(constraint, arg[1].as_str().unwrap_or_default())
        });
        let class = record.trim_start_matches(&format!("{stem}_")).trim_end_matches("Op");
        let regions = list(&op["regions"]["args"]).next().is_some();
        Ok(Self {
            dialect: dialect.to_owned(),
            mnemonic: text("opName"),
            class: class.to_owned(),
            summary: text("summary"),
            description: text("description"),
            results: results.collect(),
            operands,
            attributes,
            regions,
            segments: has("AttrSizedOperandSegments"),
            infers: has("Graph_NativeInfer"),
            commutative: has("Commutative"),
            // Constants are values to patterns, and operations with regions are structure.
            structure: regions || has("Terminator") || has("ConstantLike"),
            facts: op.clone(),
        })
    }

    /// The name of the operation's entry in the table.
    fn constant(&self) -> String {
        self.mnemonic.to_uppercase()
    }

    fn view(&self, text: &mut String) -> Result<()> {
        let Self { dialect, mnemonic, class, .. } = self;
        docs(text, "", &self.summary, &self.description)?;
        writeln!(text, "#[derive(Clone, Copy, Debug)]")?;
        writeln!(text, "pub struct {class}<'c>(Op<'c>);")?;
        writeln!(text, "impl<'c> OpView<'c> for {class}<'c> {{")?;
        writeln!(text, "    type At<'p> = {class}<'p>;")?;
        writeln!(text, "    const INFO: &'static OpInfo = &{};", self.constant())?;
        writeln!(text, "    fn of(op: Op<'c>) -> Option<Self> {{")?;
        writeln!(text, "        view::fits(op, Self::INFO).then_some(Self(op))")?;
        writeln!(text, "    }}")?;
        writeln!(text, "    fn op(self) -> Op<'c> {{ self.0 }}")?;
        writeln!(text, "}}")?;
        writeln!(text, "impl<'c> {class}<'c> {{")?;
        writeln!(text, "    /// `{dialect}.{mnemonic}`.")?;
        writeln!(text, "    pub const NAME: &'static str = \"{dialect}.{mnemonic}\";")?;
        for (index, operand) in self.operands.iter().enumerate() {
            operand.getter(text, "Operand", "operand", index)?;
        }
        for (index, result) in self.results.iter().enumerate() {
            result.getter(text, "Result", "result", index)?;
        }
        for attribute in &self.attributes {
            attribute.getter(text, self.facts["image"].as_str().unwrap_or_default())?;
        }
        if !self.regions {
            self.builder(text)?;
        }
        writeln!(text, "}}")?;
        if self.attributes.iter().any(Attribute::may_be_left_out) && !self.regions {
            self.options(text)?;
        }
        self.adaptor(text)
    }

    /// `ConvAdaptor::of(op, &converted)?.x()`.
    fn adaptor(&self, text: &mut String) -> Result<()> {
        let class = &self.class;
        writeln!(text, "/// [`{class}`] with other values for its operands.")?;
        writeln!(text, "pub type {class}Adaptor<'a, 'c> = Adaptor<'a, 'c, {class}<'c>>;")?;
        if self.operands.is_empty() {
            return Ok(());
        }
        // Lists borrow what the adaptor does.
        let (declared, list) = match self.operands.iter().any(|o| o.arity == "variadic") {
            true => ("'a, 'c", "'a"),
            false => ("'c", "'_"),
        };
        writeln!(text, "impl<{declared}> {class}Adaptor<{list}, 'c> {{")?;
        for (index, operand) in self.operands.iter().enumerate() {
            let ty =
                if operand.arity == "variadic" { "&'a [Val<'c>]" } else { operand.parameter() };
            let (name, helper) = (word(&operand.name), operand.helper("operand"));
            writeln!(text, "    /// What stands for `{}`: {}.", operand.name, operand.summary)?;
            writeln!(
                text,
                "    pub fn {name}(self) -> {ty} {{ Adaptor::{helper}(self, {index}) }}"
            )?;
        }
        writeln!(text, "}}")?;
        Ok(())
    }

    /// `Conv::build(b, x, w, None, ConvAttrs { group: 2, ..Default::default() })`.
    fn builder(&self, text: &mut String) -> Result<()> {
        let class = &self.class;
        let (free, fixed): (Vec<_>, Vec<_>) =
            self.attributes.iter().partition(|attribute| attribute.may_be_left_out());
        let mut parameters = vec!["builder: &Builder<'c>".to_owned()];
        for operand in &self.operands {
            parameters.push(format!("{}: {}", word(&operand.name), operand.parameter()));
        }
        for attribute in &fixed {
            parameters.push(format!("{}: {}", word(&attribute.name), attribute.kind.parameter()));
        }
        if !free.is_empty() {
            parameters.push(format!("attributes: {class}Attrs{}", lifetime(&free, "'c")));
        }
        if !self.infers {
            parameters.push("types: &[Type<'c>]".to_owned());
        }
        let about = if self.infers { "; MLIR infers the types of its results" } else { "" };
        writeln!(text, "    /// Creates the operation{about}.")?;
        writeln!(text, "    pub fn build({}) -> Result<Self> {{", parameters.join(", "))?;
        writeln!(text, "        let mut parts = view::Parts::new(Self::INFO);")?;
        for operand in &self.operands {
            let name = word(&operand.name);
            writeln!(text, "        parts.{}({name});", operand.arity)?;
        }
        for attribute in &fixed {
            attribute.writer(text, &word(&attribute.name))?;
        }
        for attribute in &free {
            attribute.writer(text, &format!("attributes.{}", word(&attribute.name)))?;
        }
        let types = if self.infers { "None" } else { "Some(types)" };
        writeln!(text, "        Ok(Self(parts.build(builder, {types})?))")?;
        writeln!(text, "    }}")?;
        Ok(())
    }

    /// The attributes that may be left out, with ODS's defaults.
    fn options(&self, text: &mut String) -> Result<()> {
        let class = &self.class;
        let free: Vec<_> = self.attributes.iter().filter(|a| a.may_be_left_out()).collect();
        writeln!(text, "/// Attributes of [`{class}`] that have defaults.")?;
        writeln!(text, "#[derive(Clone, Debug)]")?;
        writeln!(text, "pub struct {class}Attrs{} {{", lifetime(&free, "'c"))?;
        for attribute in &free {
            writeln!(text, "    /// {}", attribute.about())?;
            let ty = attribute.kind.owned(attribute.optional);
            writeln!(text, "    pub {}: {ty},", word(&attribute.name))?;
        }
        writeln!(text, "}}")?;
        writeln!(text, "impl Default for {class}Attrs{} {{", lifetime(&free, "'_"))?;
        writeln!(text, "    fn default() -> Self {{")?;
        writeln!(text, "        Self {{")?;
        for attribute in &free {
            let value = attribute.owned_default();
            writeln!(text, "            {}: {value},", word(&attribute.name))?;
        }
        writeln!(text, "        }}\n    }}\n}}")?;
        Ok(())
    }

    fn info(&self, text: &mut String) -> Result<()> {
        let fact = |name: &str| self.facts[name].as_str().unwrap_or_default().to_owned();
        let flag = |name: &str| self.facts[name] == 1;
        writeln!(text, "/// What ODS says about [`{}`].", self.class)?;
        writeln!(text, "pub static {}: OpInfo = OpInfo {{", self.constant())?;
        writeln!(text, "    name: \"{}.{}\",", self.dialect, self.mnemonic)?;
        writeln!(text, "    mnemonic: {:?},", self.mnemonic)?;
        writeln!(text, "    summary: {:?},", self.summary)?;
        writeln!(text, "    example: {:?},", example(&self.description))?;
        writeln!(text, "    operands: &[{}],", values(&self.operands))?;
        writeln!(text, "    results: &[{}],", values(&self.results))?;
        writeln!(text, "    attributes: &[")?;
        for attribute in &self.attributes {
            writeln!(
                text,
                "        AttrInfo {{ name: {:?}, kind: AttrKind::{}, optional: {}, default: {:?}, words: &{:?} }},",
                attribute.name,
                attribute.kind.info(),
                attribute.optional,
                attribute.default.as_deref().map(|d| attribute.kind.default_text(d)),
                attribute.words,
            )?;
        }
        writeln!(text, "    ],")?;
        writeln!(text, "    segments: {},", self.segments)?;
        writeln!(text, "    commutative: {},", self.commutative)?;
        writeln!(text, "    structure: {},", self.structure)?;
        writeln!(text, "    elementwise: {},", flag("elementwise"))?;
        writeln!(text, "    view: {},", flag("view"))?;
        writeln!(text, "    image: {},", option(&fact("image")))?;
        writeln!(text, "    weights: {},", option(&fact("weights")))?;
        writeln!(text, "    cost: {},", self.facts["cost"].as_i64().unwrap_or(1))?;
        writeln!(text, "    flops: {},", option(&fact("flops")))?;
        writeln!(text, "}};")?;
        Ok(())
    }
}

impl Operand {
    fn read(constraint: &Value, name: &str) -> Self {
        let arity = if is(constraint, "Variadic") {
            "variadic"
        } else if is(constraint, "Optional") {
            "optional"
        } else {
            "one"
        };
        let summary = constraint["summary"].as_str().unwrap_or_default();
        Self { name: name.to_owned(), summary: summary.to_owned(), arity }
    }

    fn parameter(&self) -> &'static str {
        match self.arity {
            "variadic" => "&[Val<'c>]",
            "optional" => "Option<Val<'c>>",
            _ => "Val<'c>",
        }
    }

    /// The function that reads a value, or values, of this arity.
    fn helper(&self, stem: &str) -> String {
        let suffix = match self.arity {
            "variadic" => "s",
            "optional" => "_if_present",
            _ => "",
        };
        format!("{stem}{suffix}")
    }

    fn getter(&self, text: &mut String, what: &str, helper: &str, index: usize) -> Result<()> {
        let ty = if self.arity == "variadic" { "Vec<Val<'c>>" } else { self.parameter() };
        // A result and an operand may have one name.
        writeln!(text, "    /// {what} `{}`: {}.", self.name, self.summary)?;
        let name = word(&self.name);
        writeln!(
            text,
            "    pub fn {name}(self) -> {ty} {{ view::{}(self.0, Self::INFO, {index}) }}",
            self.helper(helper)
        )?;
        Ok(())
    }
}

impl Attribute {
    fn read(constraint: &Value, name: &str) -> Self {
        let clean = |field: &str| {
            let text = constraint[field].as_str().unwrap_or_default();
            text.replace([' ', '>'], "").replace("::std::optional<", "")
        };
        let kind = match (clean("returnType").as_str(), clean("storageType").as_str()) {
            (_, "::mlir::FlatSymbolRefAttr") => Kind::Symbol,
            (_, "::mlir::UnitAttr") => Kind::Unit,
            ("uint64_t" | "int64_t", _) => Kind::Int,
            ("bool", _) => Kind::Bool,
            ("::llvm::APFloat", _) => Kind::Float,
            ("::llvm::StringRef", _) => Kind::Str,
            ("::llvm::ArrayRef<int64_t", _) => Kind::Ints,
            ("::mlir::Type", _) => Kind::Type,
            _ => Kind::Other,
        };
        Self {
            name: name.to_owned(),
            summary: constraint["summary"].as_str().unwrap_or_default().to_owned(),
            kind,
            optional: constraint["isOptional"] == 1 && kind != Kind::Unit,
            default: constraint["defaultValue"].as_str().map(str::to_owned),
            words: list(&constraint["words"])
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        }
    }

    fn may_be_left_out(&self) -> bool {
        self.optional || self.default.is_some() || self.kind == Kind::Unit
    }

    fn about(&self) -> String {
        let default = match &self.default {
            Some(default) if self.kind != Kind::Unit => {
                format!("; `{}` if left out", self.kind.default_text(default))
            }
            _ => String::new(),
        };
        format!("Attribute `{}`: {}{default}.", self.name, self.summary)
    }

    /// `image` is the operand that windows slide over, if the operation has windows: then an empty
    /// list of strides, dilations or pads stands for ones or zeros.
    fn getter(&self, text: &mut String, image: &str) -> Result<()> {
        let (name, key) = (word(&self.name), &self.name);
        let ty = self.kind.borrowed(self.optional);
        let read = format!("view::{}(self.0, {key:?})", self.kind.helper());
        let filled = match key.as_str() {
            "strides" | "dilations" if !image.is_empty() => Some((1, 1)),
            "pads" if !image.is_empty() => Some((2, 0)),
            _ => None,
        };
        let body = match (&self.default, filled) {
            (_, Some((sides, value))) => {
                format!("view::window(self.0, {key:?}, self.{}(), {sides}, {value})", word(image))
            }
            _ if self.optional || self.kind == Kind::Unit => read,
            (Some(default), _) => {
                format!("{read}.unwrap_or({})", self.kind.default_value(default))
            }
            // `of` has looked.
            (None, _) => match self.kind {
                Kind::Type => {
                    format!(
                        "{read}.unwrap_or_else(|| Type::none(phaseline_toolkit::ir::context_of(self.0)))"
                    )
                }
                Kind::Other => {
                    format!(
                        "{read}.unwrap_or_else(|| Attribute::unit(phaseline_toolkit::ir::context_of(self.0)))"
                    )
                }
                _ => format!("{read}.unwrap_or_default()"),
            },
        };
        let filled = if filled.is_some() { " One entry per dimension or side of it." } else { "" };
        writeln!(text, "    /// {}{filled}", self.about())?;
        writeln!(text, "    pub fn {name}(self) -> {ty} {{ {body} }}")?;
        Ok(())
    }

    fn writer(&self, text: &mut String, value: &str) -> Result<()> {
        let (key, helper) = (&self.name, self.kind.helper());
        if self.optional {
            writeln!(text, "        if let Some(value) = {value} {{")?;
            let value = if self.kind == Kind::Str { "&value" } else { "value" };
            writeln!(text, "            parts.{helper}(builder, {key:?}, {value});")?;
            writeln!(text, "        }}")?;
        } else {
            let owned = self.may_be_left_out();
            let by_reference = owned && matches!(self.kind, Kind::Str | Kind::Ints | Kind::Symbol);
            let sign = if by_reference { "&" } else { "" };
            writeln!(text, "        parts.{helper}(builder, {key:?}, {sign}{value});")?;
        }
        Ok(())
    }

    fn owned_default(&self) -> String {
        match (&self.default, self.kind) {
            (_, Kind::Unit) => "false".to_owned(),
            _ if self.optional => "None".to_owned(),
            (Some(default), Kind::Str) => format!("{default}.to_owned()"),
            (Some(default), kind) => kind.default_value(default),
            (None, _) => "Default::default()".to_owned(),
        }
    }
}

impl Kind {
    fn helper(self) -> &'static str {
        match self {
            Kind::Int => "int",
            Kind::Bool => "flag",
            Kind::Unit => "unit",
            Kind::Float => "float",
            Kind::Str => "string",
            Kind::Symbol => "symbol",
            Kind::Ints => "ints",
            Kind::Type => "ty",
            Kind::Other => "attribute",
        }
    }

    fn info(self) -> &'static str {
        match self {
            Kind::Int => "Int",
            Kind::Bool | Kind::Unit => "Bool",
            Kind::Float => "Float",
            Kind::Str | Kind::Symbol => "Str",
            Kind::Ints => "Ints",
            Kind::Type => "Type",
            Kind::Other => "Other",
        }
    }

    fn borrowed(self, optional: bool) -> String {
        let ty = match self {
            Kind::Int => "i64",
            Kind::Bool | Kind::Unit => "bool",
            Kind::Float => "f64",
            Kind::Str | Kind::Symbol => "&'c str",
            Kind::Ints => "Vec<i64>",
            Kind::Type => "Type<'c>",
            Kind::Other => "Attribute<'c>",
        };
        if optional { format!("Option<{ty}>") } else { ty.to_owned() }
    }

    fn owned(self, optional: bool) -> String {
        let ty = match self {
            Kind::Str | Kind::Symbol => "String".to_owned(),
            other => other.borrowed(false),
        };
        if optional { format!("Option<{ty}>") } else { ty }
    }

    fn parameter(self) -> &'static str {
        match self {
            Kind::Int => "i64",
            Kind::Bool | Kind::Unit => "bool",
            Kind::Float => "f64",
            Kind::Str | Kind::Symbol => "&str",
            Kind::Ints => "&[i64]",
            Kind::Type => "Type<'c>",
            Kind::Other => "Attribute<'c>",
        }
    }

    /// A default as Rust has it.
    fn default_value(self, default: &str) -> String {
        match self {
            // Float attributes are f32.
            Kind::Float => format!("f64::from({}_f32)", default.trim_end_matches('f')),
            Kind::Ints => "vec![]".to_owned(),
            _ => default.to_owned(),
        }
    }

    /// A default as patterns have it.
    fn default_text(self, default: &str) -> String {
        match self {
            Kind::Float => default.trim_end_matches('f').to_owned(),
            Kind::Ints => default.replace('{', "[").replace('}', "]"),
            _ => default.to_owned(),
        }
    }
}

/// The lifetime of the attributes, if there are handles among them.
fn lifetime(attributes: &[&Attribute], name: &str) -> String {
    let handles = attributes.iter().any(|a| matches!(a.kind, Kind::Type | Kind::Other));
    if handles { format!("<{name}>") } else { String::new() }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn is(record: &Value, class: &str) -> bool {
    list(&record["!superclasses"]).any(|name| name == class)
}

fn values(operands: &[Operand]) -> String {
    let entry = |o: &Operand| {
        let arity = match o.arity {
            "variadic" => "Variadic",
            "optional" => "Optional",
            _ => "One",
        };
        format!("ValueInfo {{ name: {:?}, arity: Arity::{arity} }}", o.name)
    };
    operands.iter().map(entry).collect::<Vec<_>>().join(", ")
}

fn option(text: &str) -> String {
    if text.is_empty() { "None".to_owned() } else { format!("Some({text:?})") }
}

/// A name that may be a word of Rust's.
fn word(name: &str) -> String {
    match name {
        "type" | "where" | "mod" | "ref" | "in" | "loop" | "match" | "box" | "as" => {
            format!("r#{name}")
        }
        _ => name.to_owned(),
    }
}

/// The lines of the first block of MLIR in a description.
fn example(description: &str) -> String {
    let lines = description.lines().skip_while(|line| line.trim() != "```mlir").skip(1);
    lines.take_while(|line| line.trim() != "```").map(|line| format!("{line}\n")).collect()
}

/// A summary and a description as a comment. Text that is indented would be code to rustdoc, so that
/// only what is fenced as code keeps its indent.
fn docs(text: &mut String, indent: &str, summary: &str, description: &str) -> Result<()> {
    writeln!(text, "{indent}/// {summary}.")?;
    if !description.trim().is_empty() {
        writeln!(text, "{indent}///")?;
    }
    let mut fenced = false;
    for line in description.trim_matches('\n').lines() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        let line = if fenced && !fence { line.trim_end() } else { line.trim() };
        writeln!(text, "{indent}/// {line}")?;
    }
    Ok(())
}
