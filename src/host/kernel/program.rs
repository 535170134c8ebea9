//! Epilogue of a composite: elementwise operations on the results of its anchor op before they are
//! stored.

use super::{Element, Emitter, Epilogue};
use crate::{
    Error, Result,
    ir::{
        self, Op, Val, graph, op_name,
        view::{self, OpInfo, OpView},
    },
    lower::scalar::emit_element,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::fmt::Write;

/// A value in a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// The anchor op's result for 0, else the result of the step before this number.
    Value(usize),
    /// An operand of the kernel.
    Operand(usize),
    /// A number of a type.
    Number(f64, Element),
}

/// Operation of a step.
#[derive(Clone, Copy)]
pub enum Function<'c> {
    /// An elementwise op of the graph.
    Graph(Op<'c>),
    /// The sum of two values.
    Add,
    /// The product of two values.
    Mul,
}

/// A straight-line program on elements. Its result is that of the last step, or the anchor op's.
#[derive(Clone, Default)]
pub struct Program<'c> {
    /// The steps, in order.
    pub steps: Vec<(Function<'c>, Vec<Arg>)>,
}

impl Program<'_> {
    /// Adds a step and gives its value.
    pub fn push<'c>(steps: &mut Program<'c>, function: Function<'c>, arguments: Vec<Arg>) -> Arg {
        steps.steps.push((function, arguments));
        Arg::Value(steps.steps.len())
    }

    /// A text that is the same for programs that compute the same way.
    pub fn key(&self) -> String {
        let mut key = String::new();
        for (function, arguments) in &self.steps {
            let written = match function {
                Function::Graph(op) => write!(key, "{}{}", op_name(*op), attributes(*op)),
                Function::Add => write!(key, "add"),
                Function::Mul => write!(key, "mul"),
            };
            let _ = written.and_then(|()| write!(key, "{arguments:?};"));
        }
        key
    }
}

/// True for a table of bytes, on a machine that looks such up in registers.
fn has_table(e: &Emitter<'_>, table: Val<'_>) -> bool {
    e.isa.tables
        && ir::is_memref(table.r#type())
        && Element::of(table.r#type()).is_some_and(Element::is_byte)
}

fn attributes(op: Op<'_>) -> String {
    op.attributes()
        .map(|(name, value)| {
            format!("{}={value},", name.as_string_ref().as_str().unwrap_or_default())
        })
        .collect()
}

impl<'c> Epilogue<'c> for Program<'c> {
    fn emit(&self, e: &Emitter<'c>, sum: Val<'c>, operands: &[Val<'c>]) -> Result<Val<'c>> {
        let mut values = vec![sum];
        for (function, arguments) in &self.steps {
            let arguments = arguments
                .iter()
                .map(|argument| match *argument {
                    Arg::Value(index) => Ok(values.get(index).copied()),
                    Arg::Operand(index) => Ok(operands.get(index).copied()),
                    Arg::Number(number, element) => e.splat_like(sum, number, element).map(Some),
                })
                .collect::<Result<Option<Vec<_>>>>()?
                .ok_or_else(|| Error::internal("an epilogue that uses what it does not have"))?;
            values.push(match (function, &arguments[..]) {
                (Function::Graph(op), [bytes, table])
                    if graph::Lookup::is(*op) && has_table(e, *table) =>
                {
                    e.lookup(*bytes, *table)?
                }
                (Function::Graph(op), _) => emit_element(&e.builder, *op, &arguments)?,
                (Function::Add, [a, b]) => e.float("arith.addf", *a, *b)?,
                (Function::Mul, [a, b]) => e.float("arith.mulf", *a, *b)?,
                _ => return Err(Error::internal("an epilogue step with wrong arguments")),
            });
        }
        Ok(*values.last().unwrap_or(&sum))
    }

    fn is_large(&self) -> bool {
        self.steps.iter().any(|(function, _)| match function {
            Function::Graph(op) => view::info(*op).is_some_and(OpInfo::is_expensive),
            _ => false,
        })
    }
}
