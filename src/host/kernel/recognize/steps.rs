//! Epilogue of a composite: the elementwise ops that follow its anchor op.

use super::{
    Form, Kernel, Recognized, Scope, ZeroPoint, broadcast_strides, is_step, is_table, kernel_dims,
    operand_dims, operand_view,
};
use crate::{
    host::kernel::{
        Element, View,
        program::{Arg, Function, Program},
    },
    ir::{self, Op, Val, constant::Elements, graph, view::OpView},
};
use std::collections::HashMap;

impl<'c> Scope<'_, 'c> {
    /// Adds the bias and the ops `rest`, the last of which is the `graph.yield`, to the epilogue.
    /// `root` is the anchor op's result inside of the composite, if it has ops after it.
    pub(super) fn epilogue(
        &self,
        found: &mut Recognized<'c>,
        root: Option<Val<'c>>,
        rest: &[Op<'c>],
    ) -> Option<()> {
        let mut last = Arg::Value(0);
        if let Some((operand, factor)) = found.bias {
            let mut bias = self.argument(found, operand)?;
            if factor != 1.0 {
                let arguments = vec![bias, Arg::Number(factor, found.kernel.types().sum)];
                bias = Program::push(&mut found.program, Function::Mul, arguments);
            }
            last = Program::push(&mut found.program, Function::Add, vec![last, bias]);
        }
        let Some(root) = root else { return Some(()) };
        let (end, ops) = rest.split_last()?;
        let yielded = ir::operands(*end);
        let [yielded] = yielded[..] else { return None };
        graph::Yield::of(*end)?;
        self.steps(found, (root, last), ops, yielded)
    }

    /// Adds ops to the epilogue. They begin with the value `root`, which is given as an argument, and
    /// the last one gives `end`.
    pub(super) fn steps(
        &self,
        found: &mut Recognized<'c>,
        (root, mut last): (Val<'c>, Arg),
        ops: &[Op<'c>],
        end: Val<'c>,
    ) -> Option<()> {
        let mut values = HashMap::from([(ir::id(root), last)]);
        for op in ops {
            let results = ir::results(*op);
            let [result] = results[..] else { return None };
            if !is_step(*op) || kernel_dims(result)? != self.out {
                return None;
            }
            if found.program.steps.is_empty() && self.takes_bias(found, *op, &values) {
                values.insert(ir::id(result), last);
                continue;
            }
            let mut arguments = vec![];
            for (place, operand) in ir::operands(*op).into_iter().enumerate() {
                arguments.push(match values.get(&ir::id(operand)) {
                    Some(value) => *value,
                    None if is_table(*op, operand) => Self::table(found, self.operand(operand)?),
                    None if self.differs(*op, place, operand) => {
                        self.read(found, self.operand(operand)?)?
                    }
                    None => self.argument(found, self.operand(operand)?)?,
                });
            }
            last = Program::push(&mut found.program, Function::Graph(*op), arguments);
            values.insert(ir::id(result), last);
        }
        (values.get(&ir::id(end)) == Some(&last)).then_some(())
    }

    /// True for a scale or zero point that is not known to be neutral: layers differ in those, and
    /// share a kernel that reads them.
    fn differs(&self, op: Op<'c>, place: usize, operand: Val<'c>) -> bool {
        let neutral = if place == 1 { 1.0 } else { 0.0 };
        let known = self.operand(operand).and_then(|operand| self.outer(operand));
        let known = known.and_then(Elements::of_value).filter(|elements| elements.len() == 1);
        (graph::QuantizeLinear::is(op) || graph::DequantizeLinear::is(op))
            && known.is_none_or(|elements| elements.float(0) != neutral)
    }

    /// Takes an op into the initial sums of integers if it only adds a constant for each channel to
    /// them; false if it does not.
    fn takes_bias(
        &self,
        found: &mut Recognized<'c>,
        op: Op<'c>,
        values: &HashMap<ir::Id, Arg>,
    ) -> bool {
        let Some(sums) = &mut found.sums else { return false };
        let (Some(add), ZeroPoint::Known(_), None) = (graph::Add::of(op), sums.zero, sums.bias)
        else {
            return false;
        };
        let Some(other) = [(add.a(), add.b()), (add.b(), add.a())]
            .into_iter()
            .find(|(sum, _)| values.get(&ir::id(*sum)) == Some(&Arg::Value(0)))
            .and_then(|(_, other)| self.operand(other))
        else {
            return false;
        };
        let strides = self.dims(other).and_then(|dims| broadcast_strides(&dims, self.out));
        let per_channel = strides.is_some_and(|strides| {
            strides.split_last().is_some_and(|(_, points)| points.iter().all(|step| *step == 0))
        });
        let fits =
            per_channel && self.element(other) == Some(Element::I32) && self.is_constant(other);
        if fits {
            sums.bias = Some(other);
        }
        fits
    }

    /// The table of a lookup as an argument of the epilogue.
    fn table(found: &mut Recognized<'c>, operand: usize) -> Arg {
        let view = View { table: true, ..Default::default() };
        Self::add_operand(found, operand, view)
    }

    /// Makes an operand of the composite one of the kernel.
    fn add_operand(found: &mut Recognized<'c>, operand: usize, view: View) -> Arg {
        let views = match &mut found.kernel {
            Kernel::Contraction(spec) => &mut spec.operands,
            Kernel::Depthwise(spec) => &mut spec.operands,
            Kernel::Other { kernel, .. } => kernel.operands(),
        };
        views.push(view);
        found.operands.push(operand);
        Arg::Operand(found.operands.len() - 1)
    }

    /// An operand of the composite as an argument of the epilogue: a number where it is known.
    fn argument(&self, found: &mut Recognized<'c>, operand: usize) -> Option<Arg> {
        let value = self.outer(operand)?;
        let dims = operand_dims(value).filter(|dims| !dims.contains(&0))?;
        let truth = kernel_dims(value).is_none();
        if !truth
            && let Some(elements) = Elements::of_value(self.outer(operand)?)
            && (elements.is_splat() || elements.len() == 1)
        {
            broadcast_strides(&dims, self.out)?;
            return Some(Arg::Number(elements.float(0), self.element(operand)?));
        }
        self.read(found, operand)
    }

    /// Form of the result for the kernel.
    pub(super) fn form_of(&self, found: &Recognized<'c>) -> Form {
        match &found.kernel {
            Kernel::Contraction(_) if found.kind != "conv" => self.form,
            Kernel::Other { images: false, .. } => self.form,
            _ => Form::Images,
        }
    }

    /// An operand of the composite as an argument that is read from memory.
    fn read(&self, found: &mut Recognized<'c>, operand: usize) -> Option<Arg> {
        let value = self.outer(operand)?;
        let dims = operand_dims(value).filter(|dims| !dims.contains(&0))?;
        let truth = kernel_dims(value).is_none();
        if let Some(known) = found.operands.iter().position(|other| *other == operand) {
            return Some(Arg::Operand(known));
        }
        let strides = broadcast_strides(&dims, self.out)?;
        let view = operand_view(self.out, &strides, self.form_of(found))?;
        Some(Self::add_operand(found, operand, View { truth, ..view }))
    }
}
