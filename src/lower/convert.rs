//! Conversion of a whole function.

mod scan;

use super::{Lowering, lowering};
use crate::{
    ir::{
        self, Blk, Builder, Op, Val, edit,
        func::{self, Signature, set_in},
        graph, linalg, names,
        types::{dtype_name, has_signedness, signless},
        view::OpView,
    },
    pass::{PassError, PassResult},
};
use melior::ir::{
    BlockLike, RegionLike, TypeLike, ValueLike, attribute::StringAttribute,
    operation::OperationLike,
};
use std::collections::HashMap;

/// Stands between a value with a sign in its type and the same without.
const CAST: &str = "builtin.unrealized_conversion_cast";

/// Lowers all `graph` ops of a `func.func` and makes its types signless. Arguments and results
/// get the attribute `phl.dtype` with the name of the element type that they had.
///
/// With `keep_signature` the types of arguments, results and calls stay, with casts inside of the
/// function. It then fits callers that are not converted yet. Converting it again takes the casts
/// out.
pub fn convert_function(function: Op<'_>, keep_signature: bool) -> PassResult<'_, ()> {
    let first = function.region(0)?.first_block();
    let values = HashMap::new();
    let mut conversion = Conversion { function, keep_signature, values, erased: vec![] };
    if let Some(block) = first {
        if block.next_in_region().is_some() {
            return Err(PassError::at(
                &function,
                "has more than one block; graph functions are straight-line code",
            ));
        }
        conversion.convert_body(block)?;
    }
    if keep_signature { Ok(()) } else { convert_signature(function) }
}

struct Conversion<'c> {
    function: Op<'c>,
    keep_signature: bool,
    /// Converted values by the pointer of the value that they stand for.
    values: HashMap<*const std::ffi::c_void, Val<'c>>,
    /// Converted ops, definitions before uses. They stay until the end because lowerings ask for
    /// the types of the graph.
    erased: Vec<Op<'c>>,
}

fn key(value: Val<'_>) -> *const std::ffi::c_void {
    value.to_raw().ptr
}

impl<'c> Conversion<'c> {
    fn convert_body(&mut self, block: Blk<'c>) -> PassResult<'c, ()> {
        let ops = ir::ops(block);
        let replaced_arguments = match (self.keep_signature, ops.first()) {
            (true, Some(first)) => self.cast_arguments(block, *first)?,
            _ => self.convert_arguments(block)?,
        };
        for op in ops {
            if self.convert(op, None)? {
                self.erased.push(op);
            }
        }
        // All users of a converted op come later, and are converted or erased.
        self.erased.drain(..).rev().for_each(edit::erase);
        // The users of an old argument were converted to the new one.
        for index in replaced_arguments.into_iter().rev() {
            edit::erase_argument(block, index)?;
        }
        Ok(())
    }

    /// Adds a signless argument after each argument with a sign, and returns the positions of
    /// the latter. They stay until the end because lowerings ask for the types of the graph.
    fn convert_arguments(&mut self, block: Blk<'c>) -> PassResult<'c, Vec<usize>> {
        let context = ir::context_of(self.function);
        let mut replaced = vec![];
        let mut index = 0;
        while index < block.argument_count() {
            let old: Val<'c> = block.argument(index)?.into();
            if has_signedness(old.r#type()) {
                let ty = signless(context, old.r#type());
                let location = self.function.location();
                let new = edit::insert_argument(block, index + 1, ty, location)?;
                self.values.insert(key(old), new);
                replaced.push(index);
                index += 1;
            }
            index += 1;
        }
        Ok(replaced)
    }

    /// Casts each argument with a sign. The arguments stay.
    fn cast_arguments(&mut self, block: Blk<'c>, first: Op<'c>) -> PassResult<'c, Vec<usize>> {
        let b = Builder::before(first)?;
        for old in edit::arguments(block) {
            if has_signedness(old.r#type()) {
                let new = b.op1(CAST, &[old], signless(b.context, old.r#type()))?;
                self.values.insert(key(old), new);
            }
        }
        Ok(vec![])
    }

    /// A call or return that is to keep its types: casts around it.
    fn cast_around(&mut self, op: Op<'c>) -> PassResult<'c, ()> {
        let b = Builder::before(op)?;
        for (index, old) in ir::operands(op).into_iter().enumerate() {
            let mut new = self.value(old);
            if new.r#type() != old.r#type() {
                new = b.op1(CAST, &[new], old.r#type())?;
            }
            edit::set_operand(op, index, new)?;
        }
        for result in ir::results(op) {
            if has_signedness(result.r#type()) {
                let new = b.op1(CAST, &[result], signless(b.context, result.r#type()))?;
                // What uses the result comes later, but the cast was made before the call.
                if let Some(cast) = edit::defining_op(new) {
                    edit::move_after(cast, op);
                }
                self.values.insert(key(result), new);
            }
        }
        Ok(())
    }

    fn value(&self, old: Val<'c>) -> Val<'c> {
        self.values.get(&key(old)).copied().unwrap_or(old)
    }

    fn inputs(&self, op: Op<'c>) -> Vec<Val<'c>> {
        op.operands().map(|operand| self.value(operand)).collect()
    }

    /// Converts an op in front of `anchor`, or of itself. Tells whether the op was replaced.
    fn convert(&mut self, op: Op<'c>, anchor: Option<Op<'c>>) -> PassResult<'c, bool> {
        let name = ir::op_name(op);
        if !name.starts_with("graph.") {
            return self.convert_other(op, anchor);
        }
        self.check_static(op)?;
        let b = Builder::before(anchor.unwrap_or(op))?.with_location(op.location());
        let stands_for_region = name == graph::Composite::NAME || name == graph::Custom::NAME;
        let outputs = if stands_for_region && edit::entry_block(op).is_some() {
            self.convert_composite(op, anchor.unwrap_or(op))?
        } else if name == graph::Scan::NAME {
            self.convert_scan(op, &Lowering { b, op })?
        } else {
            let lower = lowering(name).ok_or_else(|| {
                let what = match graph::Custom::of(op) {
                    Some(op) => {
                        format!(" for {}.{}, which has no reference", op.domain(), op.name())
                    }
                    None => String::new(),
                };
                let text =
                    format!("has no lowering{what}; no target of this compilation supports it");
                PassError::at(&op, text)
            })?;
            lower(&Lowering { b, op }, &self.inputs(op))
                .map_err(|error| PassError::at(&op, error))?
        };
        self.map_results(op, &outputs)?;
        Ok(true)
    }

    fn map_results(&mut self, op: Op<'c>, outputs: &[Val<'c>]) -> PassResult<'c, ()> {
        let results = ir::results(op);
        if results.len() != outputs.len() {
            let message = format!(
                "internal error: its lowering gave {} of {} results (please report this)",
                outputs.len(),
                results.len()
            );
            return Err(PassError::at(&op, message));
        }
        for (old, new) in results.into_iter().zip(outputs) {
            let expected = signless(ir::context_of(op), old.r#type());
            if new.r#type() != expected {
                let message = format!(
                    "internal error: its lowering gave {}, not {expected} (please report this)",
                    new.r#type()
                );
                return Err(PassError::at(&op, message));
            }
            self.values.insert(key(old), *new);
        }
        Ok(())
    }

    /// Ops of other dialects stay, unless their types have signs or they are in a composite.
    fn convert_other(&mut self, op: Op<'c>, anchor: Option<Op<'c>>) -> PassResult<'c, bool> {
        if ir::op_name(op) == CAST
            && self.is_sign_cast(op)
            && let [input] = self.inputs(op)[..]
        {
            let result = ir::result0(op)?;
            // Bodies of operations that are lowered already may use it, too.
            if result.r#type() == input.r#type() {
                edit::replace_uses(result, input);
            }
            self.map_results(op, &[input])?;
            return Ok(true);
        }
        if self.keep_signature && matches!(ir::op_name(op), "func.call" | "func.return") {
            self.cast_around(op)?;
            return Ok(false);
        }
        let results = ir::results(op);
        let signed = results.iter().any(|value| has_signedness(value.r#type()));
        if !signed && anchor.is_none() {
            edit::set_operands(op, &self.inputs(op))?;
            self.convert_regions(op)?;
            return Ok(false);
        }
        let clone = edit::clone_before(op, anchor.unwrap_or(op));
        edit::set_operands(clone, &self.inputs(op))?;
        for value in ir::results(clone) {
            edit::set_type(value, signless(ir::context_of(op), value.r#type()));
        }
        self.convert_regions(clone)?;
        self.map_results(op, &ir::results(clone))?;
        Ok(true)
    }

    /// Converts what control flow has in its regions, in place.
    fn convert_regions(&mut self, op: Op<'c>) -> PassResult<'c, ()> {
        for inner in ir::ops_of(op) {
            if self.convert(inner, None)? {
                self.erased.push(inner);
            }
        }
        Ok(())
    }

    /// True for a cast that an earlier conversion made.
    fn is_sign_cast(&self, op: Op<'c>) -> bool {
        let (operands, results) = (ir::operands(op), ir::results(op));
        let [operand, result] = [&operands, &results].map(|list| match list[..] {
            [only] => Some(signless(ir::context_of(op), only.r#type())),
            _ => None,
        });
        operand.is_some() && operand == result
    }

    fn convert_composite(&mut self, op: Op<'c>, anchor: Op<'c>) -> PassResult<'c, Vec<Val<'c>>> {
        let block = op
            .region(0)?
            .first_block()
            .ok_or_else(|| PassError::at(&op, "has no decomposition"))?;
        // Stands where the operations of the composite begin.
        let b = Builder::before(anchor)?;
        let marker = b.empty(b.tensor(&[], b.f32())).map(edit::defining_op)?;
        let results = self.convert_decomposition(op, anchor, block)?;
        if let Some(marker) = marker {
            name_pattern(op, marker, anchor);
            edit::erase(marker);
        }
        Ok(results)
    }

    fn convert_decomposition(
        &mut self,
        op: Op<'c>,
        anchor: Op<'c>,
        block: Blk<'c>,
    ) -> PassResult<'c, Vec<Val<'c>>> {
        let inputs = self.inputs(op);
        for (index, input) in inputs.into_iter().enumerate() {
            self.values.insert(key(block.argument(index)?.into()), input);
        }
        for inner in ir::ops(block) {
            if graph::Yield::of(inner).is_some() {
                return Ok(self.inputs(inner));
            }
            self.convert(inner, Some(anchor))?;
        }
        Err(PassError::at(&op, "has a decomposition without graph.yield"))
    }

    fn check_static(&self, op: Op<'c>) -> PassResult<'c, ()> {
        let operands = op.operands().enumerate().map(|(i, v)| (format!("operand {i}"), v));
        let results =
            ir::results(op).into_iter().enumerate().map(|(i, v)| (format!("result {i}"), v));
        let Some((what, value)) =
            operands.chain(results).find(|(_, value)| ir::static_dims(value.r#type()).is_none())
        else {
            return Ok(());
        };
        let unknown: Vec<_> = ir::dims(value.r#type())
            .iter()
            .enumerate()
            .filter(|(_, dim)| **dim < 0)
            .map(|(i, _)| i.to_string())
            .collect();
        Err(PassError::at(
            &op,
            format!(
                "has {what} of type {} with unknown size in dimension {}; {}",
                value.r#type(),
                unknown.join(", "),
                self.remedy(value)
            ),
        ))
    }

    /// Advice about unknown sizes: they come from the inputs, or from the data.
    fn remedy(&self, value: Val<'c>) -> String {
        let arguments = Signature::of(self.function).map(|s| s.arguments).unwrap_or_default();
        let dynamic = arguments
            .into_iter()
            .enumerate()
            .find(|(_, (ty, _))| ir::is_tensor(*ty) && ir::static_dims(*ty).is_none());
        let Some((index, (ty, attributes))) = dynamic else {
            let operands = edit::defining_op(value).map(ir::operands).unwrap_or_default();
            // Sizes are lists of integers, or numbers.
            let is_sizes = |value: &Val<'c>| {
                let ty = value.r#type();
                ir::dims(ty).len() <= 1 && ir::element_type(ty).is_integer()
            };
            let sizes: Vec<_> = operands.iter().copied().filter(is_sizes).collect();
            return format!(
                "it depends on the values of tensors, so no shape of an input fixes it; {}",
                func::value_remedy(if sizes.is_empty() { &operands } else { &sizes })
            );
        };
        let name = attributes
            .iter()
            .find(|(name, _)| name == names::NAME)
            .and_then(|(_, value)| edit::string(*value))
            .unwrap_or_else(|| format!("arg{index}"));
        let sizes: Vec<_> = ir::dims(ty).iter().map(|dim| dim.max(&1).to_string()).collect();
        format!("give the shape of the input, for example `--shape {name}={}`", sizes.join("x"))
    }
}

/// Names the loops between two operations after the pattern of the composite that became them, for
/// schedules.
fn name_pattern<'c>(composite: Op<'c>, from: Op<'c>, to: Op<'c>) {
    let Some(name) = graph::Composite::of(composite).map(|op| op.name()) else { return };
    let pattern = name.split_once('.').map_or(name, |(_, pattern)| pattern);
    let attribute = StringAttribute::new(ir::context_of(composite), pattern).into();
    let mut next = from.next_in_block();
    while let Some(op) = next.filter(|op| !edit::same(*op, to)) {
        if linalg::is_structured(op) {
            edit::set_attr(op, names::PATTERN, attribute);
        }
        next = op.next_in_block();
    }
}

fn convert_signature(function: Op<'_>) -> PassResult<'_, ()> {
    let context = ir::context_of(function);
    let mut signature = Signature::of(function)?;
    for (ty, attributes) in signature.arguments.iter_mut().chain(&mut signature.results) {
        let known = attributes.iter().any(|(name, _)| name == names::DTYPE);
        if ir::is_tensor(*ty) && !known {
            let dtype = StringAttribute::new(context, &dtype_name(*ty)).into();
            set_in(attributes, names::DTYPE, dtype);
        }
        *ty = signless(context, *ty);
    }
    signature.set(context, function);
    Ok(())
}
