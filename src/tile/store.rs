//! Loads and stores that are more than a copy: the device changes elements on their way into a pool or out of it.
//!
//! Such a store is a call on tensors with the tile and arrays as `ins` and the part of the tensor
//! as `outs`. A load has the part among `ins` and writes the tile. Its attribute [`names::STORE`]
//! or [`names::LOAD`] has the arguments that a pattern gives by name. The transfer itself is known
//! on buffers only, where `tir-insert-dma` makes it of the call.

use super::{
    emit::{Bound, Emitter},
    plan::{Given, Tensor},
    slice::{Offset, part, replace},
    value::value,
};
use crate::{
    Error, Result,
    expr::{Expr, Val as Number},
    ir::{
        self, Builder, Val,
        call_extern::{CallExtern, Group, arg_attr, offset_attr},
        edit, names,
    },
};
use melior::ir::{
    Attribute, ValueLike,
    attribute::{FloatAttribute, IntegerAttribute},
};

impl<'c, 'e> Emitter<'c, 'e> {
    /// Number of inputs that are arguments of the call; those behind are arrays of stores.
    pub(super) fn passed(&self) -> usize {
        let given = self.plan.tensors.iter().flat_map(|tensor| &tensor.given);
        let first = given.filter_map(|given| usize::try_from(given.table).ok()).min();
        let all = self.call.groups[Group::Ins as usize].len();
        first.map_or(all, |first| first.min(all))
    }

    /// Removes the arrays of stores from the list of inputs in the host's memory.
    pub(super) fn trim_host_ins(&self, b: &Builder<'c>, call: &mut CallExtern<'c>) {
        let passed = self.passed() as i64;
        let slot = call.attributes.iter_mut().find(|(name, _)| name == names::HOST_INS);
        let Some((_, attribute)) = slot else { return };
        let mut places = ir::i64s(*attribute).unwrap_or_default();
        places.retain(|place| *place < passed);
        *attribute = b.i64s_attr(&places);
        if places.is_empty() {
            call.attributes.retain(|(name, _)| name != names::HOST_INS);
        }
    }

    /// Stores a tile as its tensor's elements into a part of `target`.
    pub(super) fn convert(
        &self,
        b: &Builder<'c>,
        bound: &Bound<'c, '_>,
        (tensor, tile): (&Tensor, Val<'c>),
        (target, (offsets, sizes)): (Val<'c>, &(Vec<Offset<'c>>, Vec<i64>)),
    ) -> Result<Val<'c>> {
        let part = part(b, target, offsets, sizes)?;
        let stored = self.moved(b, bound, tensor, (tile, part), false)?;
        replace(b, stored, target, offsets, sizes)
    }

    /// A tile with the elements that its tensor's are to be in the pool.
    pub(super) fn converted(
        &self,
        b: &Builder<'c>,
        bound: &Bound<'c, '_>,
        tensor: &Tensor,
        (source, sizes): (Val<'c>, &[i64]),
    ) -> Result<Val<'c>> {
        let element = match &tensor.dtype {
            Some(dtype) => b.parse_type(dtype)?,
            None => ir::element_type(source.r#type()),
        };
        let room = self.room(b, tensor, sizes, element)?;
        let offsets = vec![Offset::Known(0); sizes.len()];
        let tile = part(b, room, &offsets, sizes)?;
        let loaded = self.moved(b, bound, tensor, (source, tile), true)?;
        replace(b, loaded, room, &offsets, sizes)
    }

    /// True if all arrays are there that the load of a tensor is given.
    pub(super) fn has_arrays_of(&self, bound: &Bound<'c, '_>, tensor: &Tensor) -> bool {
        let mut places = tensor.given.iter().filter_map(|given| usize::try_from(given.table).ok());
        places.all(|place| bound.inputs.get(place).is_some_and(Option::is_some))
    }

    /// The contents of `to` when the device has moved `from` there.
    fn moved(
        &self,
        b: &Builder<'c>,
        bound: &Bound<'c, '_>,
        tensor: &Tensor,
        (from, to): (Val<'c>, Val<'c>),
        loads: bool,
    ) -> Result<Val<'c>> {
        let (_, pool) = self.home(tensor)?;
        let text = match tensor.kept {
            true => &pool.dma.keep,
            false if loads => &pool.dma.load,
            false => &pool.dma.store,
        };
        let text = text.as_deref().unwrap_or_default();
        let symbol = text.split('(').next().and_then(|head| head.split_whitespace().last());
        let symbol = symbol.ok_or_else(|| Error::invalid("moves tiles without a function"))?;
        // Both ends of what is kept are in pools.
        let end = |group: Group, index: usize| match (group == Group::Ins) == loads && !tensor.kept
        {
            true => arg_attr(b.context, group, index),
            false => offset_attr(b.context, group, index),
        };
        let mut call = CallExtern::new(symbol);
        call.add(Group::Ins, from);
        call.args.push(end(Group::Ins, 0));
        let mut given = vec![];
        for argument in &tensor.given {
            let made = match usize::try_from(argument.table) {
                Ok(place) => {
                    let array = bound.inputs.get(place).copied().flatten();
                    let array = array.ok_or_else(|| {
                        Error::invalid(format!("gives '{}' before it is there", argument.name))
                    })?;
                    let index = call.add(Group::Ins, array);
                    call.args.push(arg_attr(b.context, Group::Ins, index));
                    arg_attr(b.context, Group::Ins, index)
                }
                Err(_) => self.number(b, bound, argument)?,
            };
            given.push((argument.name.clone(), made));
        }
        let index = call.add(Group::Outs, to);
        call.args.push(end(Group::Outs, index));
        let arrays: Vec<i64> = (1..call.groups[Group::Ins as usize].len() as i64).collect();
        if !arrays.is_empty() {
            call.set(names::HOST_INS, b.i64s_attr(&arrays));
        }
        let name = if loads { names::LOAD } else { names::STORE };
        call.set(name, edit::dictionary_attr(b.context, &given));
        for flag in ["with_device", "strided"] {
            call.set(flag, Attribute::unit(b.context));
        }
        ir::result0(call.build(b, &[to.r#type()])?)
    }

    fn number(
        &self,
        b: &Builder<'c>,
        bound: &Bound<'c, '_>,
        argument: &Given,
    ) -> Result<Attribute<'c>> {
        let expr = Expr::parse(&argument.value)?;
        let pieces = self.stored_pieces(bound);
        let number = value(self.plan, &pieces.iter().collect::<Vec<_>>(), &expr);
        Ok(match number.map_err(Error::invalid)? {
            Number::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                IntegerAttribute::new(b.int(64), number as i64).into()
            }
            Number::Float(number) => FloatAttribute::new(b.context, b.f64(), number).into(),
            Number::Absent => IntegerAttribute::new(b.int(64), 0).into(),
            Number::Bool(is) => IntegerAttribute::new(b.int(64), i64::from(is)).into(),
            Number::Int(number) => IntegerAttribute::new(b.int(64), number).into(),
            other => {
                let name = &argument.name;
                return Err(Error::invalid(format!("gives '{name}' {other}, which is no number")));
            }
        })
    }
}
