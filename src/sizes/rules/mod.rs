//! Rules of operations: the dimensions of their results, and their treatment of padding.

mod decide;
mod index;
mod product;
mod reduce;
mod repeat;
mod resample;
mod sample;
mod scatter;
mod shape;
mod window;

pub(super) use decide::decides;

use super::{Bounding, Content, Dim, Info, dim::bounded};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, graph, op_name, view::OpView, view::is_elementwise},
};
use melior::ir::ValueLike;

/// The result of a rule.
pub(super) enum Outcome<'c> {
    /// The operation stays, and its results have these dimensions.
    Stays(Vec<Vec<Dim>>),
    /// Other values, whose dimensions are known, stand for its results.
    Replaced(Vec<Val<'c>>),
}

/// A rule. It may change operands of the operation.
type Rule<'c> = fn(&mut Bounding<'c>, &Builder<'c>, Op<'c>) -> Result<Outcome<'c>>;

/// The rule of an operation by its name.
fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let tables = [
        decide::rule,
        index::rule,
        product::rule,
        reduce::rule,
        repeat::rule,
        sample::rule,
        scatter::rule,
        shape::rule,
        window::rule,
    ];
    tables.into_iter().find_map(|table| table(name))
}

impl<'c> Bounding<'c> {
    /// Gives an operation's results the room for their greatest sizes.
    pub(super) fn visit(&mut self, op: Op<'c>) -> Result<()> {
        if graph::Constant::is(op) {
            return self.constant(op);
        }
        if let Some((shape, content)) = self.evaluate(op) {
            return self.follow(op, &shape, content);
        }
        let b = Builder::before(op)?;
        let is_known = |value: &Val<'c>| self.dims(*value).iter().all(Dim::is_known);
        let known = ir::operands(op).iter().all(is_known);
        let has_regions = op_has_regions(op);
        let statics = edit::walk(op).into_iter().chain([op]);
        let statics = statics.into_iter().all(|op| ir::results(op).iter().all(is_static));
        let outcome = match rule(op_name(op)) {
            _ if known && statics => {
                self.materialize_all(&b, op)?;
                return Ok(());
            }
            Some(rule) => rule(self, &b, op)?,
            None if is_elementwise(op) && !has_regions => self.elementwise(&b, op)?,
            None if known => {
                return Err(Error::invalid("gives a size that only its data decide"));
            }
            None => {
                return Err(Error::invalid(
                    "has no rule for sizes that are known at run time; give these dimensions one size",
                ));
            }
        };
        match outcome {
            Outcome::Stays(all) => {
                for (value, dims) in ir::results(op).into_iter().zip(all) {
                    let ty = bounded(&b, value.r#type(), &dims, &self.symbols)?;
                    edit::set_type(value, ty);
                    self.know(value, dims);
                }
            }
            Outcome::Replaced(values) => {
                for (old, new) in ir::results(op).into_iter().zip(values) {
                    edit::replace_uses(old, new);
                    // Another value may come to stand where this one did.
                    self.infos.remove(&ir::id(old));
                }
                edit::erase(op);
            }
        }
        Ok(())
    }

    /// Notes what a small tensor holds. The operation stays for type checks, and nothing uses it in the end.
    fn follow(&mut self, op: Op<'c>, shape: &[i64], content: Content) -> Result<()> {
        let value = ir::result0(op)?;
        let dims: Vec<_> = shape.iter().copied().map(Dim::known).collect();
        let ty = bounded(&Builder::before(op)?, value.r#type(), &dims, &self.symbols)?;
        edit::set_type(value, ty);
        self.infos.insert(ir::id(value), Info { dims, content: Some(content) });
        Ok(())
    }

    /// Has a run compute the operands that are sizes.
    pub(super) fn materialize_all(&mut self, b: &Builder<'c>, op: Op<'c>) -> Result<()> {
        for (index, operand) in ir::operands(op).into_iter().enumerate() {
            let value = self.materialized(b, operand)?;
            if value != operand {
                edit::set_operand(op, index, value)?;
            }
        }
        Ok(())
    }

    /// The dimensions that operands broadcast to.
    pub(super) fn broadcast(&mut self, operands: &[Vec<Dim>]) -> Result<Vec<Dim>> {
        let rank = operands.iter().map(Vec::len).max().unwrap_or(0);
        let mut dims = vec![Dim::known(1); rank];
        for operand in operands {
            for (place, dim) in operand.iter().enumerate() {
                let slot = &mut dims[rank - operand.len() + place];
                match (slot.as_known(), dim.as_known()) {
                    (Some(1), _) => *slot = dim.clone(),
                    (_, Some(1)) => {}
                    _ => self.same(slot, dim, "has operands along one dimension of")?,
                }
            }
        }
        Ok(dims)
    }

    fn elementwise(&mut self, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
        self.materialize_all(b, op)?;
        let dims: Vec<_> = ir::operands(op).into_iter().map(|value| self.dims(value)).collect();
        let dims = self.broadcast(&dims)?;
        Ok(Outcome::Stays(vec![dims; ir::results(op).len()]))
    }

    /// Makes the padding of an operand neutral.
    pub(super) fn mask_operand(
        &mut self,
        b: &Builder<'c>,
        op: Op<'c>,
        index: usize,
        (axes, neutral): (&[usize], super::mask::Neutral),
    ) -> Result<()> {
        let operand = ir::operands(op)[index];
        let masked = self.masked(b, operand, axes, neutral)?;
        if masked != operand {
            edit::set_operand(op, index, masked)?;
        }
        Ok(())
    }

    /// Replaces an operand by these numbers.
    pub(super) fn put_numbers(
        &mut self,
        b: &Builder<'c>,
        op: Op<'c>,
        index: usize,
        numbers: &[i64],
    ) -> Result<()> {
        let value = super::mask::integers(b, &[numbers.len() as i64], numbers)?;
        edit::set_operand(op, index, value)
    }
}

fn is_static(value: &Val<'_>) -> bool {
    ir::static_dims(value.r#type()).is_some()
}

fn op_has_regions(op: Op<'_>) -> bool {
    use melior::ir::operation::OperationLike;
    op.region_count() > 0
}

/// The name by which users know an operation.
fn label(op: Op<'_>) -> String {
    let name = ir::print::node_name(op);
    if name.is_empty() { op_name(op).trim_start_matches("graph.").to_owned() } else { name }
}
