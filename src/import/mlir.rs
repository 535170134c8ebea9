//! IR as a model, of any phase.

use super::{Frontend, ImportOptions, Source};
use crate::{
    Error, Result, Session, io,
    ir::{
        self, Op, edit, graph,
        names::{NAME, PATTERN, TARGET},
        print,
        view::OpView,
    },
};
use melior::ir::{Attribute, Module, operation::OperationLike};
use std::path::{Path, PathBuf};

/// The format.
pub struct Mlir;

impl Frontend for Mlir {
    fn extensions(&self) -> &'static [&'static str] {
        &["mlir", "mlirbc"]
    }

    fn read(&self, path: &Path) -> Result<Box<dyn Source>> {
        let bytes = io::read_regular(path).map_err(|e| Error::io("cannot read", path, e))?;
        Ok(Box::new(Ir::new(path, bytes)))
    }
}

/// IR that was read: text, or bytecode, which [`Session::parse`] refuses.
pub struct Ir {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Ir {
    /// Text, which stands in a file or was made of one.
    pub fn new(path: &Path, text: Vec<u8>) -> Self {
        Self { path: path.to_owned(), bytes: text }
    }
}

impl Source for Ir {
    fn input_names(&self) -> Option<Vec<String>> {
        None
    }

    fn is_ir(&self) -> bool {
        true
    }

    /// Types in IR are what they are: the options' shapes and values have no use.
    fn import<'s>(&self, session: &'s Session, _: &ImportOptions) -> Result<Module<'s>> {
        session.parse(&self.bytes, &self.path.to_string_lossy())
    }
}

/// The first operation of a module that is no part of a network, with its place; `None` for a pure
/// network. A network has functions with bodies, operations of the dialect `graph`, constants and
/// names, and computes its results. All else may be a program: its code can call any function, such
/// as `system`, with the rights of the user who runs it.
pub fn program_in(module: &Module<'_>) -> Option<String> {
    let root = ir::root(module);
    std::iter::once(root).chain(edit::walk(root)).find_map(|op| {
        let what = foreign(root, op)?;
        Some(format!("{}: {what}", print::place(op.location())))
    })
}

/// The reason why an operation of a module, or the module itself, is no part of a network.
fn foreign<'c>(root: Op<'c>, op: Op<'c>) -> Option<String> {
    let name = ir::op_name(op);
    match name {
        "builtin.module" if edit::same(op, root) => {}
        "func.func" if edit::entry_block(op).is_none() => {
            return Some("'func.func' without a body stands for code that is elsewhere".to_owned());
        }
        // A called function has a body, too.
        "func.func" | "func.call" | "func.return" | "arith.constant" => {}
        _ if name.starts_with("graph.") => {}
        _ => return Some(format!("'{name}' is no operation of a network")),
    }
    if graph::Composite::is(op) && op.has_attribute("config") {
        return Some(format!("'config' of '{name}' says which function is called"));
    }
    let ports = ["arg_attrs", "res_attrs"].iter().filter_map(|list| op.attribute(list).ok());
    let of_ports = ports.flat_map(edit::array).flat_map(edit::dictionary);
    let ports = of_ports.filter(|(name, _)| name != NAME);
    let own = op.attributes().filter_map(|(name, value): (_, Attribute<'c>)| {
        let name = name.as_string_ref().as_str().ok()?.to_owned();
        let places = [TARGET, PATTERN].contains(&name.as_str()) && !edit::same(op, root);
        (!places).then_some((name, value))
    });
    // Attributes with a dialect's name mean something to the passes of that dialect.
    let mut others = own.chain(ports).filter(|(name, _)| name.contains('.'));
    others
        .next()
        .map(|(attribute, _)| format!("attribute '{attribute}' of '{name}' is none of a network"))
}
