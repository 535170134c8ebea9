//! Round trips of operations: an example of each is printed and read again in all forms.

use crate::{
    Error, Result, Session, Toolkit,
    ir::{self, Attribute, Module, print},
    op_info::{Arity, AttrInfo, AttrKind, OpInfo, ValueInfo},
};
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use std::collections::BTreeMap;

/// Examples that are tried for an operation, at most.
const MOST: usize = 20_000;

/// Types of operands and results that are tried, behind those that a test gives.
const TYPES: [&str; 20] = [
    "i64",
    "i32",
    "i1",
    "index",
    "f32",
    "f64",
    "tensor<2x3xf32>",
    "tensor<2x3xf64>",
    "tensor<2x3xi32>",
    "tensor<2x3xi64>",
    "tensor<2x3xi1>",
    "tensor<2x2xf32>",
    "tensor<2x2xf64>",
    "tensor<1x4x8x8xf32>",
    "tensor<4xf32>",
    "tensor<f32>",
    "memref<2x3xf32>",
    "memref<4xf64>",
    "vector<4xf32>",
    "none",
];

/// Examples of all operations of a dialect, which are printed and read again: as their assembly format says, in MLIR's generic
/// form, and as bytecode. An example is the block of MLIR in the description of an operation in ODS, in which values that it
/// only uses have the types that MLIR expects. Without a block it is found by trying types and attributes until one is valid;
/// those of types and attributes of one's own are given.
///
/// ```
/// # use phaseline_toolkit::{Toolkit, testing::RoundTrips, upstream};
/// use phaseline_toolkit::op_info::{Arity, OpInfo, ValueInfo};
/// # fn main() -> phaseline_toolkit::Result<()> {
/// # const X: ValueInfo = ValueInfo { name: "x", arity: Arity::One };
/// # static NEG: OpInfo = OpInfo {
/// #     name: "arith.negf", mnemonic: "negf", summary: "", example: "", operands: &[X], results: &[X], attributes: &[],
/// #     segments: false, commutative: false, structure: false, elementwise: false, view: false, image: None,
/// #     weights: None, cost: 1, flops: None,
/// # };
/// let toolkit = Toolkit::new("my tool").upstream([upstream::arith()]);
/// # let ops: &[&OpInfo] = &[&NEG];
/// RoundTrips::new(&toolkit).types(["f32"]).check(ops)?; // of one's own dialect: my::OPS
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RoundTrips<'t> {
    toolkit: &'t Toolkit,
    types: Vec<String>,
    attributes: BTreeMap<String, Vec<String>>,
    examples: BTreeMap<String, Vec<String>>,
}

impl<'t> RoundTrips<'t> {
    /// Round trips in sessions of a toolkit.
    pub fn new(toolkit: &'t Toolkit) -> Self {
        let types = vec![];
        Self { toolkit, types, attributes: BTreeMap::new(), examples: BTreeMap::new() }
    }

    /// Adds types to try for operands and results.
    #[must_use]
    pub fn types<'s>(mut self, types: impl IntoIterator<Item = &'s str>) -> Self {
        self.types.extend(types.into_iter().map(str::to_owned));
        self
    }

    /// Adds a value to try for attributes of a name.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: &str) -> Self {
        self.attributes.entry(name.to_owned()).or_default().push(value.to_owned());
        self
    }

    /// Adds an example of an operation: the text of a module that has it, in place of what is tried.
    #[must_use]
    pub fn example(mut self, name: &str, text: &str) -> Self {
        self.examples.entry(name.to_owned()).or_default().push(text.to_owned());
        self
    }

    /// Checks the operations of a dialect: `OPS` of its views.
    ///
    /// # Errors
    /// A form is read as something else, or no example of an operation is valid: each of them is in the message.
    pub fn check(&self, ops: &[&OpInfo]) -> Result<()> {
        if ops.is_empty() {
            return Err(Error::invalid("there are no operations to check"));
        }
        let session = self.toolkit.session();
        let wrong: Vec<_> = ops
            .iter()
            .filter_map(|op| Some(format!("{}: {}", op.name, self.of(&session, op).err()?)))
            .collect();
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(Error::invalid(wrong.join("\n"))),
        }
    }

    fn of(&self, session: &Session, op: &OpInfo) -> Result<()> {
        if let Some(texts) = self.examples.get(op.name) {
            return texts.iter().try_for_each(|text| {
                let module = session.parse(text.as_bytes(), "the example")?;
                let has = ir::edit::walk(ir::root(&module))
                    .into_iter()
                    .any(|one| ir::op_name(one) == op.name);
                match has {
                    true => trip(session, &module),
                    false => Err(Error::invalid("the example has no such operation")),
                }
            });
        }
        if !op.example.is_empty() {
            return self.described(session, op);
        }
        let mut example = self.find(session, op)?;
        trip(session, &parse(session, &example.text(op))?)?;
        // Attributes that it may have, one after the other.
        for attribute in op.attributes.iter().filter(|attribute| is_optional(attribute)) {
            for value in self.values(attribute) {
                let mut more = example.clone();
                more.attributes.push((attribute.name, value));
                if let Ok(module) = parse(session, &more.text(op)) {
                    trip(session, &module)?;
                    example = more;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Checks the example in the description of an operation, and it with the attributes that it may have.
    fn described(&self, session: &Session, op: &OpInfo) -> Result<()> {
        let text = closed(session, op)?;
        let module = parse(session, &text)?;
        if !ir::edit::walk(ir::root(&module)).into_iter().any(|one| ir::op_name(one) == op.name) {
            return Err(Error::invalid("the example in its description is of others"));
        }
        trip(session, &module)?;
        let generic = format!("\"{}\"(", op.name);
        if !text.contains(&generic) && print::print_plain(ir::root(&module))?.contains(&generic) {
            return Err(Error::invalid("the example is printed in the generic form"));
        }
        for attribute in op.attributes.iter().filter(|attribute| is_optional(attribute)) {
            for value in self.values(attribute) {
                let module = parse(session, &text)?;
                let all = ir::edit::walk(ir::root(&module)).into_iter();
                let value = Attribute::parse(session.context(), &value);
                session.clear_diagnostics();
                let Some(value) = value else { continue };
                for one in all.filter(|one| ir::op_name(*one) == op.name) {
                    ir::edit::set_attr(one, attribute.name, value);
                }
                let is_valid = ir::verify(ir::root(&module));
                session.clear_diagnostics();
                if is_valid {
                    trip(session, &module)?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// An example with the attributes that it needs.
    fn find(&self, session: &Session, op: &OpInfo) -> Result<Example> {
        let mut left = MOST;
        let needed: Vec<_> = op.attributes.iter().filter(|one| !is_optional(one)).collect();
        let lists: Vec<Vec<String>> = needed.iter().map(|one| self.values(one)).collect();
        for regions in ["", "({\n})", "({\n^bb0:\n})"] {
            for count in [1, 2, 0] {
                let (ins, outs) = (counts(op.operands, count), counts(op.results, count));
                let total: usize = ins.iter().chain(&outs).sum();
                for types in self.assignments(total) {
                    for values in product(&lists) {
                        let example = Example {
                            types: types.clone(),
                            ins: ins.clone(),
                            attributes: needed.iter().map(|one| one.name).zip(values).collect(),
                            regions,
                        };
                        if parse(session, &example.text(op)).is_ok() {
                            return Ok(example);
                        }
                        left -= 1;
                        if left == 0 {
                            return Err(none());
                        }
                    }
                }
            }
        }
        Err(none())
    }

    /// Types of so many values: all the same, then two kinds, then any of a few.
    fn assignments(&self, total: usize) -> Vec<Vec<String>> {
        let all: Vec<String> = self.types.iter().cloned().chain(TYPES.map(str::to_owned)).collect();
        if total == 0 {
            return vec![vec![]];
        }
        let mut found: Vec<_> = all.iter().map(|ty| vec![ty.clone(); total]).collect();
        for split in (1..total).rev() {
            for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
                if a != b {
                    let mut types = vec![a.clone(); split];
                    types.resize(total, b.clone());
                    found.push(types);
                }
            }
        }
        if (3..=4).contains(&total) {
            let few: Vec<_> = all.iter().take(8).cloned().collect();
            found.extend(product(&vec![few; total]));
        }
        found
    }

    fn values(&self, attribute: &AttrInfo) -> Vec<String> {
        let own = self.attributes.get(attribute.name).cloned().unwrap_or_default();
        let words = attribute.words.iter().map(|word| format!("\"{word}\""));
        let usual: &[&str] = match attribute.kind {
            AttrKind::Int => &["1 : i64", "1 : i32", "1 : index", "0 : i64", "1 : si64", "1 : i8"],
            AttrKind::Float => &["1.0 : f32", "1.0 : f64", "5.0e-1 : f32"],
            AttrKind::Str => &["\"text\""],
            AttrKind::Bool => &["true", "false"],
            AttrKind::Ints => &[
                "array<i64: 1, 0>",
                "array<i64: 1>",
                "array<i64>",
                "array<i32: 1, 0>",
                "[1, 0]",
                "[]",
            ],
            AttrKind::Floats => &["array<f64: 1.0>", "array<f32: 1.0>", "[1.0]"],
            AttrKind::Type => &["f32", "i32", "i64", "i1", "tensor<2x3xf32>"],
            AttrKind::Other => &[
                "unit",
                "@symbol",
                "dense<1.0> : tensor<2x3xf64>",
                "dense<1.0> : tensor<2x3xf32>",
                "dense<1> : tensor<2x3xi64>",
                "\"text\"",
                "1 : i64",
                "1.0 : f32",
                "array<i64: 1, 0>",
                "[]",
                "{}",
                "f32",
                "affine_map<(d0, d1) -> (d0, d1)>",
            ],
        };
        own.into_iter().chain(words).chain(usual.iter().map(|text| (*text).to_owned())).collect()
    }
}

/// The example in the description of an operation, behind definitions of the values that it only uses. MLIR tells their types
/// in its errors about values of the type `none`.
fn closed(session: &Session, op: &OpInfo) -> Result<String> {
    let mut open: BTreeMap<&str, String> =
        values_in(op.example).map(|name| (name, "none".to_owned())).collect();
    loop {
        let line = |(name, ty): (&&str, &String)| {
            format!("%{name} = \"builtin.unrealized_conversion_cast\"() : () -> {ty}\n")
        };
        let text = open.iter().map(line).collect::<String>() + op.example;
        let Err(error) = session.parse(text.as_bytes(), "the example") else { return Ok(text) };
        let message = error.to_string();
        let between = |start: &str| message.split_once(start)?.1.split('\'').next();
        let defined = between("redefinition of SSA value '%")
            .or_else(|| between("region entry argument '%"))
            .is_some_and(|name| open.remove(name).is_some());
        let used = between("use of value '%").and_then(|name| open.get_mut(name));
        let ty = between("expects different type than prior uses: '");
        let typed = used.filter(|old| *old == "none").zip(ty);
        if !defined && typed.map(|(old, ty)| ty.clone_into(old)).is_none() {
            return Err(Error::invalid(format!(
                "the example in its description is not valid, correct it or give a text (example): {message}"
            )));
        }
    }
}

/// The names of values in a text.
fn values_in(text: &str) -> impl Iterator<Item = &str> {
    text.split('%').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

fn none() -> Error {
    Error::invalid(
        "no example was found: give its types (types), its attributes (attribute), or a text (example)",
    )
}

/// True for an attribute that an operation may be without.
fn is_optional(attribute: &AttrInfo) -> bool {
    attribute.optional || attribute.default.is_some()
}

/// The numbers of values that operands or results stand for; optional ones are left out where others are many.
fn counts(values: &[ValueInfo], many: usize) -> Vec<usize> {
    let count = |value: &ValueInfo| match value.arity {
        Arity::One => 1,
        Arity::Optional => many.min(1),
        Arity::Variadic => many,
    };
    values.iter().map(count).collect()
}

/// All choices of one of each list.
fn product(lists: &[Vec<String>]) -> Vec<Vec<String>> {
    lists.iter().fold(vec![vec![]], |all, list| {
        let with = |one: &Vec<String>| {
            let one = one.clone();
            list.iter().map(move |last| one.iter().cloned().chain([last.clone()]).collect())
        };
        let next: Vec<_> = all.iter().flat_map(with).collect();
        next.into_iter().take(MOST).collect()
    })
}

/// An example of an operation.
#[derive(Clone, Debug)]
struct Example {
    /// Types of operands, then of results.
    types: Vec<String>,
    /// The number of values of each operand.
    ins: Vec<usize>,
    attributes: Vec<(&'static str, String)>,
    regions: &'static str,
}

impl Example {
    /// A module that has the operation, in MLIR's generic form.
    fn text(&self, op: &OpInfo) -> String {
        let (ins, outs) = self.types.split_at(self.ins.iter().sum());
        let mut text: String = (0..)
            .zip(ins)
            .map(|(i, ty)| {
                format!("%{i} = \"builtin.unrealized_conversion_cast\"() : () -> {ty}\n")
            })
            .collect();
        let operands: Vec<_> = (0..ins.len()).map(|i| format!("%{i}")).collect();
        let mut attributes: Vec<_> =
            self.attributes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if op.segments {
            let sizes: Vec<_> = self.ins.iter().map(usize::to_string).collect();
            attributes.push(format!("operandSegmentSizes = array<i32: {}>", sizes.join(", ")));
        }
        if !outs.is_empty() {
            text += &format!("%r:{} = ", outs.len());
        }
        text += &format!(
            "\"{}\"({}) {} {{{}}} : ({}) -> ({})\n",
            op.name,
            operands.join(", "),
            self.regions,
            attributes.join(", "),
            ins.join(", "),
            outs.join(", ")
        );
        text
    }
}

fn parse<'s>(session: &'s Session, text: &str) -> Result<Module<'s>> {
    let module = session.parse(text.as_bytes(), "an example");
    session.clear_diagnostics();
    module
}

/// Prints and reads a module in all forms.
fn trip(session: &Session, module: &Module<'_>) -> Result<()> {
    let generic = generic(module)?;
    let custom = print::print_plain(ir::root(module))?;
    for (form, text) in [("assembly format", &custom), ("generic form", &generic)] {
        let again = session
            .parse(text.as_bytes(), form)
            .map_err(|error| Error::invalid(format!("the {form} is not read: {error}\n{text}")))?;
        same(form, &generic, &again)?;
    }
    let mut bytes = vec![];
    print::bytecode(ir::root(module), &mut |part| bytes.extend_from_slice(part));
    // SAFETY: MLIR wrote the bytes just now.
    let again = unsafe { session.parse_bytecode(&bytes, "bytecode") }?;
    same("bytecode", &generic, &again)
}

fn same(form: &str, wanted: &str, module: &Module<'_>) -> Result<()> {
    let found = generic(module)?;
    match found == wanted {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "the {form} is read as something else:\n{wanted}became\n{found}"
        ))),
    }
}

fn generic(module: &Module<'_>) -> Result<String> {
    let flags = OperationPrintingFlags::new().print_generic_operation_form();
    module
        .as_operation()
        .to_string_with_flags(flags)
        .map_err(|error| Error::internal(format!("an operation is not printed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream;

    const fn value(name: &'static str) -> ValueInfo {
        ValueInfo { name, arity: Arity::One }
    }

    const fn attribute(name: &'static str, kind: AttrKind) -> AttrInfo {
        AttrInfo { name, kind, optional: true, default: None, words: &[] }
    }

    const EXAMPLE: &str = "%v = memref.load %m[%i, %i] : memref<2x?xf32>\n";

    /// An operation of upstream, as ODS would have it.
    const LOAD: OpInfo = OpInfo {
        name: "memref.load",
        mnemonic: "load",
        summary: "",
        example: EXAMPLE,
        operands: &[value("memref"), value("i")],
        results: &[value("v")],
        attributes: &[
            attribute("nontemporal", AttrKind::Bool),
            attribute("alignment", AttrKind::Int),
        ],
        segments: false,
        commutative: false,
        structure: false,
        elementwise: false,
        view: false,
        image: None,
        weights: None,
        cost: 1,
        flops: None,
    };

    fn toolkit() -> Toolkit {
        Toolkit::new("a tool").upstream([upstream::arith(), upstream::memref(), upstream::scf()])
    }

    #[test]
    fn values_of_an_example_have_the_types_that_it_expects() -> Result<()> {
        let toolkit = toolkit();
        let session = toolkit.session();
        let text = closed(&session, &LOAD)?;
        assert!(
            text.contains("%m = \"builtin.unrealized_conversion_cast\"() : () -> memref<2x?xf32>")
        );
        assert!(text.contains("%i = \"builtin.unrealized_conversion_cast\"() : () -> index"));
        assert!(!text.contains("%v = \"builtin"), "{text}");
        RoundTrips::new(&toolkit).check(&[&LOAD])
    }

    #[test]
    fn an_example_has_what_is_around_its_operation() -> Result<()> {
        let example = "%r = scf.if %c -> (i32) {\n%y = arith.addi %x, %x : i32\nscf.yield %y : i32\n\
                       } else {\nscf.yield %x : i32\n}\n";
        let yields = OpInfo { name: "scf.yield", example, attributes: &[], ..LOAD };
        RoundTrips::new(&toolkit()).check(&[&yields])
    }

    #[test]
    fn operations_without_an_example_are_named() {
        let told = |op: OpInfo| {
            let error = RoundTrips::new(&toolkit()).check(&[&LOAD, &op]).expect_err("is told");
            let text = error.to_string();
            assert!(text.starts_with(op.name), "{text}");
            text
        };
        let none = told(OpInfo { name: "memref.none", example: "", attributes: &[], ..LOAD });
        assert!(none.contains("no example was found"), "{none}");
        let others = told(OpInfo { name: "memref.store", ..LOAD });
        assert!(others.contains("is of others"), "{others}");
        let wrong = told(OpInfo { name: "memref.dim", example: "%0 = memref.dim %m\n", ..LOAD });
        assert!(wrong.contains("is not valid, correct it"), "{wrong}");
    }
}
