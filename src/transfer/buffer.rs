//! The buffers of a function, each with a place in the host's memory, in the device's, or both.

use super::{Side, calls::Calls};
use crate::{
    ir::{self, Builder, Op, OpSpec, Val, edit, effects, func, memref},
    pass::{PassError, PassResult},
};
use melior::ir::{
    Attribute, Type, ValueLike,
    attribute::{DenseI32ArrayAttribute, FlatSymbolRefAttribute, StringAttribute, TypeAttribute},
    operation::OperationLike,
};
use std::collections::HashMap;

/// State of a buffer's places on the host and on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The host's place is up to date.
    pub host: bool,
    /// The device's place is up to date.
    pub device: bool,
    /// A copy from the host's place is under way.
    pub read: bool,
    /// A copy to the host's place is under way.
    pub written: bool,
}

impl State {
    pub fn is_at(&self, side: Side) -> bool {
        if side == Side::Host { self.host } else { self.device }
    }

    /// Up to date on one side only; what is under way stays.
    pub fn only(&mut self, side: Side) {
        (self.host, self.device) = (side == Side::Host, side == Side::Device);
    }
}

/// A buffer.
#[derive(Clone, Copy)]
pub struct Buffer<'c> {
    /// In the host's memory.
    pub host: Val<'c>,
    /// In the device's, once it is there.
    pub device: Option<Val<'c>>,
    /// Side on which the function's callers have it; none for one of its own.
    pub caller: Option<Side>,
    pub state: State,
    /// Operation of the device that wrote it, if that is known.
    pub writer: Option<Op<'c>>,
}

/// The buffers of a function.
#[derive(Default)]
pub struct Buffers<'c> {
    pub all: Vec<Buffer<'c>>,
    // Only looked up, so that its order is of no effect.
    places: HashMap<ir::Id, usize>,
    /// Views in the device's memory by what they are views of.
    views: HashMap<ir::Id, Val<'c>>,
}

impl<'c> Buffers<'c> {
    /// The buffers of the host's memory that a function is given, makes, or reads as constants.
    pub fn of(function: Op<'c>) -> Self {
        let mut buffers = Self::default();
        let ours = |value: &Val<'c>| {
            memref::space_or_host(value.r#type()).is_some_and(|space| space.is_empty())
        };
        let block = edit::entry_block(function);
        for value in block.map(edit::arguments).unwrap_or_default().into_iter().filter(&ours) {
            buffers.add(value, Some(Side::Host));
        }
        for op in edit::walk(function) {
            if effects::is_own(op) {
                for value in ir::results(op).into_iter().filter(&ours) {
                    let buffer = buffers.add(value, None);
                    buffers.all[buffer].state.host = effects::is_constant(op);
                }
            }
        }
        buffers
    }

    fn add(&mut self, host: Val<'c>, caller: Option<Side>) -> usize {
        let state = State { host: caller.is_some(), ..State::default() };
        self.places.insert(ir::id(host), self.all.len());
        self.all.push(Buffer { host, device: None, caller, state, writer: None });
        self.all.len() - 1
    }

    pub fn find(&self, value: Val<'_>) -> Option<usize> {
        self.places.get(&ir::id(value)).copied()
    }

    /// Makes a function take an argument in the device's memory.
    pub fn take(
        &mut self,
        function: Op<'c>,
        index: usize,
        calls: &Calls<'c, '_>,
    ) -> PassResult<'c> {
        let argument = func::argument(function, index)
            .ok_or_else(|| PassError::at(&function, "has fewer arguments than its type says"))?;
        let Some(buffer) = self.find(argument) else { return Ok(()) };
        let ty = argument.r#type();
        let body = edit::entry_block(function);
        let first = body.and_then(|body| ir::ops(body).first().copied());
        let first = first.ok_or_else(|| PassError::at(&function, "has no body"))?;
        let host = alloc(&Builder::before(first)?, ty)?;
        edit::replace_uses(argument, host);
        let device = memref::with_space(calls.context, ty, Some(&calls.device.memory.space))?;
        edit::set_type(argument, device);
        let mut signature = func::Signature::of(function)?;
        if let Some((ty, _)) = signature.arguments.get_mut(index) {
            *ty = device;
        }
        signature.set(calls.context, function);
        self.places.insert(ir::id(host), buffer);
        let state = State { device: true, ..State::default() };
        self.all[buffer] = Buffer {
            host,
            device: Some(argument),
            caller: Some(Side::Device),
            state,
            writer: None,
        };
        Ok(())
    }

    /// The device's place of a buffer, made where the host's is.
    pub fn device(&mut self, buffer: usize, calls: &Calls<'c, '_>) -> PassResult<'c, Val<'c>> {
        let Buffer { host, device, .. } = self.all[buffer];
        if let Some(device) = device {
            return Ok(device);
        }
        let space = Some(calls.device.memory.space.as_str());
        let ty = memref::with_space(calls.context, host.r#type(), space)?;
        let made = edit::defining_op(host);
        let at = match made {
            Some(op) => op,
            None => {
                let block = edit::owner_block(host).map(|(block, _)| block);
                let first = block.and_then(|block| ir::ops(block).first().copied());
                first.ok_or_else(|| PassError::new("an argument of an empty block"))?
            }
        };
        let builder = Builder::before(at)?.with_location(ir::location_of(host));
        let value = match made.filter(|op| ir::op_name(*op) == "memref.get_global") {
            Some(read) => global(&builder, read, ty, calls)?,
            None => alloc(&builder, ty)?,
        };
        self.all[buffer].device = Some(value);
        Ok(value)
    }

    /// A view of a buffer, in the device's memory.
    pub fn view(&mut self, value: Val<'c>, calls: &Calls<'c, '_>) -> PassResult<'c, Val<'c>> {
        if let Some(known) = self.views.get(&ir::id(value)) {
            return Ok(*known);
        }
        if let Some(buffer) = self.find(value) {
            return self.device(buffer, calls);
        }
        let op = edit::defining_op(value).filter(|op| memref::is_alias(*op));
        let op = op.ok_or_else(|| PassError::new("a buffer that is nobody's"))?;
        let mut operands = ir::operands(op);
        if let Some(source) = operands.first_mut() {
            *source = self.view(*source, calls)?;
        }
        let space = Some(calls.device.memory.space.as_str());
        let ty = memref::with_space(calls.context, value.r#type(), space)?;
        let attributes: Vec<_> = op
            .attributes()
            .map(|(name, value)| (name.as_string_ref().as_str().unwrap_or("").to_owned(), value))
            .collect();
        let attributes = attributes.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let view = Builder::before(op)?.op1_with(ir::op_name(op), &operands, ty, attributes)?;
        self.views.insert(ir::id(value), view);
        Ok(view)
    }

    /// Erases the host's buffers that nothing uses, and their views.
    pub fn clean(&self) {
        for buffer in &self.all {
            erase_unused(buffer.host);
        }
    }
}

/// Erases views that nothing uses, and then what they are views of.
fn erase_unused(value: Val<'_>) {
    for user in ir::users(value) {
        if memref::is_alias(user)
            && let Ok(view) = ir::result0(user)
        {
            erase_unused(view);
        }
    }
    let Some(op) = edit::defining_op(value) else { return };
    let users = ir::users(value);
    if users.iter().all(|user| ir::op_name(*user) == "memref.dealloc") {
        users.into_iter().for_each(edit::erase);
        edit::erase(op);
    }
}

fn alloc<'c>(builder: &Builder<'c>, ty: Type<'c>) -> PassResult<'c, Val<'c>> {
    if ir::static_dims(ty).is_none() {
        return Err(PassError::new(format!(
            "{ty} is in the memory of a device, but its size is not known when compiling: give the \
             unknown dimensions of the model's inputs with --shape"
        )));
    }
    let segments = DenseI32ArrayAttribute::new(builder.context, &[0, 0]).into();
    let attributes = vec![("operandSegmentSizes", segments)];
    Ok(builder.op1_with("memref.alloc", &[], ty, attributes)?)
}

/// Reads a constant in the device's memory.
fn global<'c>(
    builder: &Builder<'c>,
    read: Op<'c>,
    ty: Type<'c>,
    calls: &Calls<'c, '_>,
) -> PassResult<'c, Val<'c>> {
    let name = func::symbol_ref(read, "name").unwrap_or_default();
    let copy = format!("{name}__{}", calls.device.memory.space);
    let globals = ir::ops_of(calls.module);
    let known = |wanted: &str| globals.iter().find(|op| func::symbol(**op) == wanted).copied();
    if known(&copy).is_none() {
        let old = known(&name).ok_or_else(|| {
            PassError::at(&read, format!("reads the constant @{name}, which is nowhere"))
        })?;
        let attributes: Vec<_> = old
            .attributes()
            .map(|(name, value)| (name.as_string_ref().as_str().unwrap_or("").to_owned(), value))
            .map(|(name, value)| -> (String, Attribute<'c>) {
                match &*name {
                    "sym_name" => (name, StringAttribute::new(calls.context, &copy).into()),
                    "type" => (name, TypeAttribute::new(ty).into()),
                    _ => (name, value),
                }
            })
            .collect();
        let attributes = attributes.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let spec = OpSpec { attributes, ..Default::default() };
        Builder::before(old)?.create("memref.global", spec)?;
    }
    let symbol = FlatSymbolRefAttribute::new(calls.context, &copy).into();
    Ok(builder.op1_with("memref.get_global", &[], ty, vec![("name", symbol)])?)
}
