//! `phaseline inspect`: what a model takes and gives, its open sizes, operations and parameters.

use super::{
    args::InspectArgs,
    model::{dimension_name, import},
    print,
    registry::Known,
};
use crate::{
    CompileOptions, Interface, Result, Toolkit,
    artifact::TensorInfo,
    import::Source,
    ir::{self, edit, graph, names, view::OpView},
};
use melior::ir::{Module, ValueLike};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write as _};

/// Facts about a model.
#[derive(Serialize)]
struct Facts {
    model: String,
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
    /// The dimensions of inputs that the model leaves open, by name.
    open: Vec<String>,
    /// Inputs that decide on shapes, or have to be known for another reason.
    shape_inputs: Vec<String>,
    /// The number of operations of each kind of the graph dialect, those in loops counted once.
    operations: BTreeMap<String, usize>,
    parameters: Parameters,
    /// Reason why the model cannot be imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// An input or output; open dimensions have their names, or `?`.
#[derive(Serialize)]
struct Tensor {
    name: String,
    dtype: String,
    shape: Vec<String>,
}

/// Constants of floating-point type, or of at least 16 elements.
#[derive(Default, Serialize)]
struct Parameters {
    elements: u64,
    bytes: u64,
}

/// Prints facts about a model.
pub fn inspect(toolkit: &Toolkit, args: &InspectArgs) -> Result<()> {
    let session = super::new_session(toolkit);
    let known = Known::of(toolkit, &args.known)?;
    let options = CompileOptions { target_path: known.paths, ..toolkit.options() };
    let source = super::bytecode::open(&args.model.model)?;
    let mut facts = Facts {
        model: args.model.model.display().to_string(),
        inputs: vec![],
        outputs: vec![],
        open: vec![],
        shape_inputs: source.shape_inputs()?,
        operations: BTreeMap::new(),
        parameters: Parameters::default(),
        refused: None,
    };
    match import(&*source, &session, &args.model, &options) {
        Ok(module) => facts.read(&*source, &module)?,
        Err(error) => facts.refused = Some(error.to_string()),
    }
    if args.json {
        let text = serde_json::to_string_pretty(&facts).map_err(|error| {
            crate::Error::internal(format!("facts about a model have no JSON form: {error}"))
        })?;
        return print(&(text + "\n"));
    }
    print(&facts.text())
}

impl Facts {
    fn read(&mut self, source: &dyn Source, module: &Module<'_>) -> Result<()> {
        let interface = Interface::of(module)?;
        for input in &interface.inputs {
            let name = |axis: usize| dimension_name(source, &input.name, axis);
            self.inputs.push(tensor(input, &name));
            let open = input.shape.iter().enumerate().filter(|(_, size)| size.is_none());
            for name in open.map(|(axis, _)| name(axis)) {
                if !self.open.contains(&name) {
                    self.open.push(name);
                }
            }
        }
        self.outputs = interface.outputs.iter().map(|it| tensor(it, &|_| "?".to_owned())).collect();
        let names: Vec<_> = interface.inputs.iter().map(|input| &input.name).collect();
        self.shape_inputs.retain(|input| names.contains(&input));
        for op in edit::walk(ir::root(module)) {
            let Some(kind) = ir::op_name(op).strip_prefix("graph.") else { continue };
            if graph::Constant::is(op) {
                self.parameters.add(op);
            } else if !graph::Yield::is(op) {
                *self.operations.entry(kind.to_owned()).or_default() += 1;
            }
        }
        let ranges = ir::attr_strs(ir::root(module), names::SYMBOLS).unwrap_or_default();
        let named = |name: &str| ranges.iter().any(|range| range.starts_with(&format!("{name}=")));
        self.open.retain(|name| !named(name));
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.model);
        let lists = [("inputs", &self.inputs), ("outputs", &self.outputs)];
        let all = lists.iter().flat_map(|(_, list)| list.iter());
        let width = all.map(|tensor| tensor.name.chars().count()).max().unwrap_or(0);
        for (what, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            let _ = writeln!(text, "{what}");
            for Tensor { name, dtype, shape } in *list {
                let _ = writeln!(text, "  {name:width$}  {dtype} [{}]", shape.join(", "));
            }
        }
        if !self.open.is_empty() {
            let ranges: Vec<_> =
                self.open.iter().map(|name| format!("--shape {name}=1..8")).collect();
            let _ = writeln!(text, "open sizes: {}", self.open.join(", "));
            let _ = writeln!(
                text,
                "  one size each (--shape {}=1), or ranges: {}",
                self.open[0],
                ranges.join(" ")
            );
        }
        if !self.shape_inputs.is_empty() {
            let _ =
                writeln!(text, "inputs that decide on shapes: {}", self.shape_inputs.join(", "));
            for name in &self.shape_inputs {
                let input = self.inputs.iter().find(|input| input.name == *name);
                let Some((one, range)) = input.and_then(Tensor::example) else { continue };
                let _ = writeln!(
                    text,
                    "  a value (--value '{name}={one}'), or a range for each run: --value '{name}={range}'"
                );
            }
        }
        if let Some(refused) = &self.refused {
            let _ = writeln!(text, "not supported\n  {}", refused.replace('\n', "\n  "));
            return text;
        }
        let count: usize = self.operations.values().sum();
        let mut kinds: Vec<_> = self.operations.iter().collect();
        kinds.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
        let kinds: Vec<_> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let _ = writeln!(text, "operations: {count}\n  {}", kinds.join(", "));
        let Parameters { elements, bytes } = self.parameters;
        let _ = writeln!(text, "parameters: {elements}, {bytes} bytes");
        text
    }
}

impl Tensor {
    /// A value and a range as `--value` takes them, for a few integers.
    fn example(&self) -> Option<(String, String)> {
        if !["int32", "int64"].contains(&self.dtype.as_str()) {
            return None;
        }
        let count = match &self.shape[..] {
            [] => return Some(("3".to_owned(), "1..8".to_owned())),
            [count] => count.parse::<usize>().ok().filter(|count| *count <= 8)?,
            _ => return None,
        };
        let list = |text: &str| format!("[{}]", vec![text; count].join(","));
        Some((list("3"), list("1..8")))
    }
}

impl Parameters {
    fn add(&mut self, op: ir::Op<'_>) {
        let Some(value) = ir::results(op).first().copied() else { return };
        let element = ir::element_type(value.r#type());
        let dims = ir::dims(value.r#type());
        let count = dims.iter().map(|dim| u64::try_from(*dim).unwrap_or(0)).product::<u64>();
        let width = ir::types::bits(element).unwrap_or(8);
        if ir::is_float(element) || count >= 16 {
            self.elements += count;
            self.bytes += (count * u64::from(width)).div_ceil(8);
        }
    }
}

fn tensor(info: &TensorInfo, name: &dyn Fn(usize) -> String) -> Tensor {
    let sizes = info.shape.iter().enumerate();
    Tensor {
        name: info.name.clone(),
        dtype: info.dtype.to_string(),
        shape: sizes
            .map(|(axis, size)| size.map_or_else(|| name(axis), |size| size.to_string()))
            .collect(),
    }
}
