//! Composites that become calls of C functions: their arguments, and their tensors in the layouts
//! that the functions want.
//!
//! A composite whose prototype says `in x as nhwc` takes `transpose(x)`; its decomposition starts
//! with the transpose back, so that it still means the same. `transposes::cancel` removes pairs of
//! neighbours that undo each other.

use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, Val,
        call_extern::{Group, arg_attr, null},
        composite_call::CompositeCall,
        edit, elements, graph,
        view::OpView,
    },
    pattern::{BoundArg, BoundCall, BoundLayout, CType, Permutation},
    targets::InHeaders,
    tensor::{AlignedBuffer, BUFFER_ALIGN, DType},
    tile::attribute::to_attribute,
};
use melior::ir::{
    Attribute, ValueLike,
    attribute::{FloatAttribute, IntegerAttribute},
    operation::OperationLike,
};
use std::collections::HashSet;

use super::{
    composite::make_composite,
    data::{blocked, transpose},
    definer,
    transposes::{builder_after, from_layout, in_layout, permuted},
};

/// Shared state of the calls of a function's composites, such as the transposes that they need.
#[derive(Default)]
pub struct Calls<'c> {
    /// True if headers declare the functions.
    pub has_headers: bool,
    /// Headers with bodies of functions that the host's own code calls.
    pub in_headers: InHeaders,
    /// Transposes outside of composites.
    pub transposes: Vec<Op<'c>>,
    /// Transposes in front of calls that may read anything where no element is.
    pub unfilled: HashSet<ir::Id>,
    /// Constants in another layout: the original, the layout, the new value.
    constants: Vec<(Val<'c>, BoundLayout, Val<'c>)>,
}

/// A match as operations and values of the IR.
pub struct MatchedOps<'c, 'a> {
    /// Operations in block order.
    pub ops: Vec<Op<'c>>,
    /// The current value of an input of the match.
    pub input: &'a dyn Fn(crate::graph::ValueId) -> Result<Val<'c>>,
    /// The outputs of the match.
    pub outputs: Vec<Val<'c>>,
}

impl<'c> Calls<'c> {
    /// Makes the composite of a match that becomes this call.
    pub fn make(
        &mut self,
        name: &str,
        target: &str,
        found: MatchedOps<'c, '_>,
        call: &BoundCall,
    ) -> Result<Op<'c>> {
        let mut maker = Maker {
            calls: self,
            found,
            ins: vec![],
            outs: vec![],
            over: vec![],
            consts: vec![],
            extra: vec![],
            flat: [vec![], vec![]],
        };
        let args = call.args.iter().map(|arg| maker.argument(arg)).collect::<Result<Vec<_>>>()?;
        for array in &call.arrays {
            maker.argument(array)?;
        }
        let Maker { found, ins, outs, over, consts, extra, flat, .. } = maker;
        let composite = make_composite(name, target, &found.ops, vec![])?;
        add_operands(composite, &extra)?;
        let b = Builder::before(composite)?;
        let operands = ir::operands(composite);
        let place = |value: &Option<Val<'c>>| match value {
            None => Ok(-1),
            Some(value) => operands
                .iter()
                .position(|operand| operand == value)
                .map(|place| place as i64)
                .ok_or_else(|| Error::internal("an input of a call is none of its match")),
        };
        let ins = ins.iter().map(place).collect::<Result<Vec<_>>>()?;
        let results = ir::results(composite);
        let outs =
            outs.iter().map(|user| output_place(&results, *user)).collect::<Result<Vec<_>>>()?;
        let over = match over.iter().any(Option::is_some) {
            true => over.iter().map(place).collect::<Result<Vec<_>>>()?,
            false => vec![],
        };
        let [flat_ins, flat_outs] = flat;
        let headers = self.in_headers.with(&call.symbol);
        let described = CompositeCall {
            callee: call.symbol.clone(),
            args,
            ins,
            outs,
            over,
            consts,
            scratch_bytes: call.scratch,
            flat_ins,
            flat_outs,
            tile: call.tile.as_ref().map(|plan| to_attribute(&b, plan)).transpose()?,
            with_device: call.device,
            returns_status: call.status,
            prototype: call.prototype.clone().filter(|_| !self.has_headers),
            headers,
        };
        described.write(&b, composite);
        Ok(composite)
    }

    /// A constant in another layout; none if the value is no constant.
    fn constant(&mut self, value: Val<'c>, layout: &BoundLayout) -> Result<Option<Val<'c>>> {
        let Some(op) = definer(value).filter(|op| graph::Constant::is(*op)) else {
            return Ok(None);
        };
        let is = |(other, known, _): &&(Val<'c>, BoundLayout, Val<'c>)| {
            *other == value && known == layout
        };
        if let Some((.., made)) = self.constants.iter().find(is) {
            return Ok(Some(*made));
        }
        let b = Builder::before(op)?;
        let ty = value.r#type();
        let attribute = op.attribute("value").map_err(ir::unexpected)?;
        let bytes = elements::bytes(attribute)?;
        let dims = ir::dims(ty);
        let count = dims.iter().product::<i64>().max(0) as usize;
        let width = bytes.len() / count.max(1);
        let (moved, ty, name) = match layout {
            BoundLayout::Permuted(Permutation { permutation, .. }) => {
                let moved = transpose(&bytes, &dims, permutation, width);
                (moved, permuted(&b, ty, permutation), "transposed")
            }
            BoundLayout::Blocked { parts, shape } => {
                let (moved, parts) = blocked(&bytes, &dims, parts, width);
                let shape = shape.as_ref().unwrap_or(&parts);
                (moved, b.tensor(shape, ir::element_type(ty)), "blocked")
            }
            BoundLayout::Given { layout, .. } => return self.constant(value, layout),
            BoundLayout::Flat => return Ok(None),
        };
        let data = AlignedBuffer::copy_of(&moved)?;
        let attribute = elements::resource(ty, name, data, BUFFER_ALIGN)?;
        let made = graph::Constant::build(&b, attribute)?.y();
        self.constants.push((value, layout.clone(), made));
        Ok(Some(made))
    }
}

struct Maker<'c, 'a, 'm> {
    calls: &'m mut Calls<'c>,
    found: MatchedOps<'c, 'a>,
    /// Values that become operands of the composite; none for a constant array.
    ins: Vec<Option<Val<'c>>>,
    /// For each output, a use of it outside of the composite.
    outs: Vec<Outside<'c>>,
    /// For each output, the value that it is written over.
    over: Vec<Option<Val<'c>>>,
    consts: Vec<Attribute<'c>>,
    /// Operands that only the call uses, not the decomposition.
    extra: Vec<Val<'c>>,
    /// Indices of the flat inputs and of the flat outputs.
    flat: [Vec<i64>; 2],
}

/// An output, by what uses it outside of the match.
#[derive(Clone, Copy)]
enum Outside<'c> {
    /// The operation that transposes it back.
    Transpose(Op<'c>),
    /// An operand of any operation.
    Use(Op<'c>, usize),
}

impl<'c> Maker<'c, '_, '_> {
    fn argument(&mut self, arg: &BoundArg) -> Result<Attribute<'c>> {
        let first = *self.found.ops.first().ok_or_else(|| Error::internal("an empty match"))?;
        let b = Builder::before(first)?;
        let context = b.context;
        Ok(match arg {
            BoundArg::In(None, _) => null(b.context)?,
            BoundArg::In(Some(id), layout) => {
                let value = (self.found.input)(*id)?;
                let value = self.input_in(&b, value, layout.as_ref())?;
                self.ins.push(Some(value));
                arg_attr(context, Group::Ins, self.ins.len() - 1)
            }
            BoundArg::Out(place, layout) => {
                let outside = self.output_in(self.found.outputs[*place], layout.as_ref())?;
                self.outs.push(outside);
                self.over.push(None);
                arg_attr(context, Group::Outs, self.outs.len() - 1)
            }
            BoundArg::Over(place, id, layout) => {
                let old = match layout {
                    // A flat operand of the call is reshaped with its output.
                    Some(BoundLayout::Flat) | None => (self.found.input)(*id)?,
                    Some(BoundLayout::Given { layout, .. }) => {
                        let value = (self.found.input)(*id)?;
                        self.input_in(&b, value, Some(layout))?
                    }
                    Some(_) => {
                        let value = (self.found.input)(*id)?;
                        self.input_in(&b, value, layout.as_ref())?
                    }
                };
                let outside = self.output_in(self.found.outputs[*place], layout.as_ref())?;
                self.outs.push(outside);
                self.over.push(Some(old));
                arg_attr(context, Group::Outs, self.outs.len() - 1)
            }
            BoundArg::Int(ty, value) => integer(&b, *ty, *value),
            BoundArg::Float(ty, value) => {
                let double = matches!(ty, Some(CType::Scalar(DType::F64)));
                let ty = if double { b.f64() } else { b.f32() };
                FloatAttribute::new(context, ty, *value).into()
            }
            BoundArg::Name(name) => b.parse_attr(&format!("#tir.name<{name:?}>"))?,
            BoundArg::Const(dtype, values) => {
                self.consts.push(array(&b, *dtype, values)?);
                self.ins.push(None);
                arg_attr(context, Group::Ins, self.ins.len() - 1)
            }
            BoundArg::Struct(name, fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.argument(value)?)))
                    .collect::<Result<Vec<_>>>()?;
                let fields = edit::dictionary_attr(context, &fields).to_string();
                b.parse_attr(&format!("#tir.struct<{name:?}, {fields}>"))?
            }
            BoundArg::Scratch => arg_attr(context, Group::Scratch, 0),
        })
    }

    /// An input in the layout of the call.
    fn input_in(
        &mut self,
        b: &Builder<'c>,
        value: Val<'c>,
        layout: Option<&BoundLayout>,
    ) -> Result<Val<'c>> {
        match layout {
            Some(layout @ BoundLayout::Permuted(order)) if !order.is_identity() => {
                self.input(b, value, layout)
            }
            Some(layout @ BoundLayout::Blocked { .. }) => {
                match self.calls.constant(value, layout)? {
                    Some(made) => {
                        self.extra.push(made);
                        Ok(made)
                    }
                    None => self.input(b, value, layout),
                }
            }
            Some(BoundLayout::Flat) => {
                self.flat[0].push(self.ins.len() as i64);
                Ok(value)
            }
            Some(BoundLayout::Given { layout, padding }) => {
                let count = self.calls.transposes.len();
                let moved = self.input_in(b, value, Some(layout))?;
                if *padding {
                    let made = self.calls.transposes.iter().skip(count);
                    self.calls.unfilled.extend(made.map(|op| ir::id(*op)));
                }
                self.flat[0].push(self.ins.len() as i64);
                Ok(moved)
            }
            _ => Ok(value),
        }
    }

    /// An output that the call makes in its layout.
    fn output_in(&mut self, value: Val<'c>, layout: Option<&BoundLayout>) -> Result<Outside<'c>> {
        match layout {
            Some(BoundLayout::Permuted(order)) if order.is_identity() => {}
            Some(layout @ (BoundLayout::Permuted(_) | BoundLayout::Blocked { .. })) => {
                return self.output(value, layout);
            }
            Some(BoundLayout::Flat) => self.flat[1].push(self.outs.len() as i64),
            Some(BoundLayout::Given { layout, .. }) => {
                self.flat[1].push(self.outs.len() as i64);
                return self.output_in(value, Some(layout));
            }
            _ => {}
        }
        outside_use(value, &self.found.ops)
            .map(|(user, place)| Outside::Use(user, place))
            .ok_or_else(|| Error::internal("an output without use"))
    }

    /// The input in another layout; the operations of the match get it back as it was.
    fn input(&mut self, b: &Builder<'c>, value: Val<'c>, layout: &BoundLayout) -> Result<Val<'c>> {
        let moved = match self.calls.constant(value, layout)? {
            Some(constant) => constant,
            None => {
                let moved = in_layout(b, value, layout)?;
                self.calls.transposes.extend(definer(moved));
                moved
            }
        };
        let back = from_layout(b, moved, value.r#type(), layout)?;
        for op in &self.found.ops {
            super::remap_operands(*op, &[value], &[back])?;
        }
        self.found.ops.extend(definer(back));
        // The transpose back stands before all others, but is last in the list: in block order.
        self.found.ops.rotate_right(1);
        Ok(moved)
    }

    /// Puts an output into another layout inside of the match, and back outside of it.
    fn output(&mut self, value: Val<'c>, layout: &BoundLayout) -> Result<Outside<'c>> {
        let last = *self.found.ops.last().ok_or_else(|| Error::internal("an empty match"))?;
        let b = builder_after(last)?;
        let moved = in_layout(&b, value, layout)?;
        let back = from_layout(&b, moved, value.r#type(), layout)?;
        for user in ir::users(value) {
            let inside = self.found.ops.iter().any(|op| edit::same(*op, user));
            let ours = definer(moved).is_some_and(|op| edit::same(op, user));
            if !inside && !ours {
                super::remap_operands(user, &[value], &[back])?;
            }
        }
        let op = definer(back).ok_or_else(|| Error::internal("a transpose without operation"))?;
        self.found.ops.extend(definer(moved));
        self.calls.transposes.push(op);
        Ok(Outside::Transpose(op))
    }
}

/// An operation outside of `ops` that uses a value, with the index of the operand.
pub fn outside_use<'c>(value: Val<'c>, ops: &[Op<'c>]) -> Option<(Op<'c>, usize)> {
    let inside = |user: Op<'c>| ops.iter().any(|op| edit::same(*op, user));
    let user = ir::users(value).into_iter().find(|user| !inside(*user))?;
    let place = ir::operands(user).iter().position(|operand| *operand == value)?;
    Some((user, place))
}

/// Index of the composite's result that an operation outside uses.
fn output_place<'c>(results: &[Val<'c>], outside: Outside<'c>) -> Result<i64> {
    let used = match outside {
        Outside::Transpose(op) => ir::operands(op).first().copied(),
        Outside::Use(op, place) => ir::operands(op).get(place).copied(),
    };
    let place = used.and_then(|used| results.iter().position(|result| *result == used));
    place.map(|place| place as i64).ok_or_else(|| Error::internal("an output of a call is lost"))
}

/// Adds operands to a composite that its decomposition does not use.
fn add_operands<'c>(composite: Op<'c>, extra: &[Val<'c>]) -> Result<()> {
    if extra.is_empty() {
        return Ok(());
    }
    let body = edit::entry_block(composite)
        .ok_or_else(|| Error::internal("a composite without decomposition"))?;
    let mut operands = ir::operands(composite);
    for value in extra {
        edit::add_argument(body, value.r#type(), composite.location());
        operands.push(*value);
    }
    edit::replace_operands(composite, &operands);
    Ok(())
}

fn integer<'c>(b: &Builder<'c>, ty: Option<CType>, value: i64) -> Attribute<'c> {
    let bits = match ty {
        Some(CType::Scalar(dtype)) => dtype.size() as u32 * 8,
        Some(CType::Size) => 64,
        None if i32::try_from(value).is_ok() => 32,
        None => 64,
    };
    IntegerAttribute::new(b.int(bits), value).into()
}

/// Bytes of a constant array that MLIR keeps once for all equal ones. Longer ones are resources.
const SMALL: usize = 256;

/// A constant array.
fn array<'c>(b: &Builder<'c>, dtype: DType, values: &[f64]) -> Result<Attribute<'c>> {
    let mut bytes = vec![];
    for value in values {
        let int = *value as i64;
        match dtype {
            DType::F32 => bytes.extend((*value as f32).to_ne_bytes()),
            DType::F64 => bytes.extend(value.to_ne_bytes()),
            DType::U64 => bytes.extend((*value as u64).to_ne_bytes()),
            _ => bytes.extend(&int.to_le_bytes()[..dtype.size()]),
        }
    }
    let element = match dtype {
        DType::F32 => b.f32(),
        DType::F64 => b.f64(),
        _ => b.int(dtype.size() as u32 * 8),
    };
    let ty = b.tensor(&[values.len() as i64], element);
    if bytes.len() <= SMALL {
        return elements::dense(ty, &bytes);
    }
    elements::resource(ty, "argument", AlignedBuffer::copy_of(&bytes)?, BUFFER_ALIGN)
}
