//! The calls that move values and wait.

use super::{Device, Side};
use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group},
        edit, func,
        names::{self, IO},
        outline::NewFunction,
        size,
    },
    pass::{PassError, PassResult},
};
use melior::{
    Context,
    ir::{
        Attribute, Type, ValueLike,
        attribute::{IntegerAttribute, StringAttribute},
        operation::OperationLike,
        r#type::IntegerType,
    },
};
use std::collections::BTreeMap;

/// Makes calls of the device's functions, and the functions of the device through which the host
/// calls them.
pub struct Calls<'c, 'd> {
    pub context: &'c Context,
    pub module: Op<'c>,
    pub device: &'d Device,
    /// Functions for the host by what they call and the types of their arguments.
    known: BTreeMap<String, String>,
}

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    In,
    Out,
    Within,
}

impl<'c, 'd> Calls<'c, 'd> {
    pub fn new(module: Op<'c>, device: &'d Device) -> Self {
        Self { context: ir::context_of(module), module, device, known: BTreeMap::new() }
    }

    /// Copies all of a buffer before `at`, in a function of `side`.
    pub fn copy(
        &mut self,
        at: Op<'c>,
        side: Side,
        copy: Copy,
        (from, to): (Val<'c>, Val<'c>),
    ) -> PassResult<'c> {
        let builder = Builder::before(at)?;
        if side == Side::Device {
            return self.vendor_copy(&builder, copy, (from, to)).map(drop);
        }
        let name = match copy {
            Copy::In => "copy_in",
            Copy::Out => "copy_out",
            Copy::Within => "copy_within",
        };
        let types = [from.r#type(), to.r#type()];
        let helper = Helper {
            what: name.to_owned(),
            transfer: names::TRANSFER_COPY,
            types: &types,
            writes: true,
        };
        let function = self.function(helper, |calls, builder, values| {
            let (Some(from), Some(to)) = (values.first(), values.get(1)) else { return Ok(()) };
            calls.vendor_copy(builder, copy, (*from, *to)).map(drop)
        })?;
        let mut call = self.call_of(&function);
        call.push(self.context, Group::Ins, from);
        call.push(self.context, Group::Outs, to);
        call.build(&builder, &[])?;
        Ok(())
    }

    /// Waits before `at` for all that was started. `buffers` are in use until then.
    pub fn wait(&mut self, at: Op<'c>, side: Side, buffers: &[Val<'c>]) -> PassResult<'c> {
        let Some(wait) = self.device.wait.clone() else { return Ok(()) };
        let builder = Builder::before(at)?;
        let mut call = match side {
            Side::Device => self.vendor_wait(&wait),
            Side::Host => {
                let helper = Helper::without("wait", names::TRANSFER_WAIT);
                let function = self.function(helper, |calls, builder, _| {
                    calls.vendor_wait(&wait).build(builder, &[])?;
                    Ok(())
                })?;
                self.call_of(&function)
            }
        };
        if !buffers.is_empty() {
            call.set("keeps", Attribute::unit(self.context));
        }
        for buffer in buffers {
            call.add(Group::Ins, *buffer);
        }
        call.build(&builder, &[])?;
        Ok(())
    }

    fn vendor_wait(&self, name: &str) -> CallExtern<'c> {
        let mut call = vendor_call(self.context, name);
        self.limit(&mut call);
        call
    }

    /// Gives a call the time that it may wait.
    pub(super) fn limit(&self, call: &mut CallExtern<'c>) {
        let ty = IntegerType::new(self.context, 64).into();
        let limit = self.device.timeout.map(|limit| IntegerAttribute::new(ty, limit));
        call.args.extend(limit.map(Attribute::from));
    }

    fn vendor_copy(
        &self,
        builder: &Builder<'c>,
        copy: Copy,
        (from, to): (Val<'c>, Val<'c>),
    ) -> PassResult<'c> {
        let device = self.device;
        let name = match copy {
            Copy::In => &device.copy_in,
            Copy::Out => &device.copy_out,
            Copy::Within => device.copy_within.as_ref().unwrap_or(&device.copy_in),
        };
        let bytes = size::bytes(from.r#type()).and_then(|bytes| i64::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| {
            PassError::new(format!(
                "{} goes to or from the memory of target '{}', but its size is not known when \
                 compiling: give the unknown dimensions of the model's inputs with --shape",
                from.r#type(),
                device.memory.target
            ))
        })?;
        let mut call = vendor_call(self.context, name);
        call.push(self.context, Group::Outs, to);
        call.push(self.context, Group::Ins, from);
        let ty = IntegerType::new(self.context, 64).into();
        call.args.push(IntegerAttribute::new(ty, bytes).into());
        call.build(builder, &[])?;
        Ok(())
    }

    /// A call from another target's function.
    pub(super) fn call_of(&self, function: &str) -> CallExtern<'c> {
        let mut call = vendor_call(self.context, function);
        let id = StringAttribute::new(self.context, &self.device.memory.target).into();
        call.set(names::DEVICE, id);
        call
    }

    /// The function of the device that does this, made once.
    pub(super) fn function(
        &mut self,
        helper: Helper<'c, '_>,
        fill: impl FnOnce(&Self, &Builder<'c>, &[Val<'c>]) -> PassResult<'c>,
    ) -> PassResult<'c, String> {
        let Helper { what, transfer, types, writes } = helper;
        let texts: Vec<_> = types.iter().map(ToString::to_string).collect();
        let key = format!("{what} {}", texts.join(" "));
        if let Some(name) = self.known.get(&key) {
            return Ok(name.clone());
        }
        let id = crate::artifact::c_identifier(&self.device.memory.target);
        let taken = func::functions(self.module).into_iter().map(func::symbol).collect();
        let name = func::free_symbol(format!("{id}_{what}_{}", self.known.len()), &taken);
        let body = edit::entry_block(self.module).ok_or_else(|| PassError::new("has no body"))?;
        let builder = Builder::at_end(self.context, body, self.module.location());
        let roles: Vec<_> = (1..=types.len())
            .map(|place| if writes && place == types.len() { "output" } else { "input" })
            .map(|role| vec![(IO.to_owned(), builder.str_attr(role))])
            .collect();
        let function = NewFunction::private(&name)
            .arguments(types.iter().copied())
            .with(names::TARGET, builder.str_attr(&self.device.memory.target))
            .with(names::TRANSFER, builder.str_attr(transfer))
            .define(&builder, |b, values| fill(self, b, values).map(|()| vec![]))?;
        let arguments = types.iter().copied().zip(roles).collect();
        func::Signature { arguments, results: vec![] }.set(self.context, function);
        self.known.insert(key, name.clone());
        Ok(name)
    }
}

/// A function of the device for the host.
pub(super) struct Helper<'c, 't> {
    /// Action in its name; a helper of that name and these types does the same.
    pub what: String,
    /// Value of its attribute [`names::TRANSFER`].
    pub transfer: &'static str,
    /// The buffers that it takes.
    pub types: &'t [Type<'c>],
    /// True if it writes the last of them; it reads the others.
    pub writes: bool,
}

impl Helper<'_, '_> {
    /// A helper that takes no buffers.
    pub fn without(what: &str, transfer: &'static str) -> Self {
        Self { what: what.to_owned(), transfer, types: &[], writes: false }
    }
}

/// A call that is given the device and returns a status.
pub(super) fn vendor_call<'c>(context: &'c Context, name: &str) -> CallExtern<'c> {
    let mut call = CallExtern::new(name);
    for flag in ["with_device", "returns_status"] {
        call.set(flag, Attribute::unit(context));
    }
    call
}
