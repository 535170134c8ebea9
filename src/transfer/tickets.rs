//! The operations that take tickets, wait for them, and choose queues.

use super::calls::{Calls, Helper, vendor_call};
use crate::{
    ir::{
        self, Builder, Op, OpSpec, Val, call_extern::Group, edit, func, names, tir, view::OpView,
    },
    pass::{PassError, PassResult},
};
use melior::ir::{
    Attribute, Type,
    attribute::{DenseI32ArrayAttribute, IntegerAttribute},
    operation::OperationLike,
    r#type::{IntegerType, MemRefType},
};

/// The tickets of a function: one place for each point at which one is taken.
pub struct Tickets<'c> {
    all: Val<'c>,
}

/// The side that waits: the host, or a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    Host,
    Queue(usize),
}

impl Waiter {
    /// The number of the queue, if it is one.
    pub fn queue(self) -> Option<usize> {
        match self {
            Self::Host => None,
            Self::Queue(queue) => Some(queue),
        }
    }
}

impl<'c> Tickets<'c> {
    /// Makes room for tickets before the first operation of a function.
    pub fn allocate(first: Op<'c>, count: usize) -> PassResult<'c, Self> {
        let builder = Builder::before(first)?;
        let segments = DenseI32ArrayAttribute::new(builder.context, &[0, 0]).into();
        let attributes = vec![("operandSegmentSizes", segments)];
        let ty = MemRefType::new(builder.int(64), &[count as i64], None, None).into();
        Ok(Self { all: builder.op1_with("memref.alloc", &[], ty, attributes)? })
    }

    /// Takes the ticket of a slot before `at`, for what is on a queue then.
    pub fn submit(
        &self,
        calls: &mut Calls<'c, '_>,
        at: Op<'c>,
        (queue, slot): (usize, usize),
    ) -> PassResult<'c> {
        let function = calls.submitter(queue)?;
        let builder = Builder::before(at)?;
        tir::Submit::build(&builder, self.all, &function, queue as i64, slot as i64, &[])?;
        Ok(())
    }

    /// Makes the host or a queue wait for the ticket of a slot before `at`, until when buffers are
    /// in use.
    pub fn wait(
        &self,
        calls: &mut Calls<'c, '_>,
        at: Op<'c>,
        (waiter, slot): (Waiter, usize),
        keeps: &[Val<'c>],
    ) -> PassResult<'c> {
        let function = calls.waiter(waiter)?;
        let builder = Builder::before(at)?;
        let attributes = tir::WaitAttrs { queue: waiter.queue().map(|queue| queue as i64) };
        tir::Wait::build(&builder, self.all, keeps, &function, slot as i64, attributes, &[])?;
        Ok(())
    }
}

impl<'c> Calls<'c, '_> {
    /// Puts all that is started from here on on a queue.
    pub fn select(&mut self, at: Op<'c>, queue: usize) -> PassResult<'c> {
        let helper = Helper::without(&format!("select_{queue}"), names::TRANSFER_SELECT);
        let function = self.function(helper, |calls, builder, _| calls.choose(builder, queue))?;
        let builder = Builder::before(at)?;
        let mut call = self.call_of(&function);
        call.set(names::QUEUE, builder.i64_attr(queue as i64));
        call.build(&builder, &[])?;
        Ok(())
    }

    /// The function that takes a ticket for a queue.
    fn submitter(&mut self, queue: usize) -> PassResult<'c, String> {
        let ticket = [self.ticket()];
        let what = format!("submit_{queue}");
        let helper =
            Helper { what, transfer: names::TRANSFER_TICKET, types: &ticket, writes: true };
        self.function(helper, |calls, builder, values| {
            calls.choose(builder, queue)?;
            let Some(tickets) = &calls.device.tickets else { return Ok(()) };
            let mut call = vendor_call(calls.context, &tickets.submit);
            values.iter().for_each(|place| call.push(calls.context, Group::Outs, *place));
            call.build(builder, &[])?;
            Ok(())
        })
    }

    /// The function that waits for a ticket.
    fn waiter(&mut self, waiter: Waiter) -> PassResult<'c, String> {
        let ticket = [self.ticket()];
        let what = match waiter {
            Waiter::Host => "wait_for".to_owned(),
            Waiter::Queue(queue) => format!("after_{queue}"),
        };
        let helper =
            Helper { what, transfer: names::TRANSFER_TICKET, types: &ticket, writes: false };
        self.function(helper, |calls, builder, values| {
            let Some(tickets) = &calls.device.tickets else { return Ok(()) };
            let name = match waiter {
                Waiter::Host => tickets.wait_for.as_ref(),
                Waiter::Queue(queue) => {
                    calls.choose(builder, queue)?;
                    tickets.queues.as_ref().map(|queues| &queues.after)
                }
            };
            let name = name.ok_or_else(|| PassError::new("a device that awaits no tickets"))?;
            let mut call = vendor_call(calls.context, name);
            for place in values {
                let zero = builder.index(0)?;
                let ticket = builder.op1("memref.load", &[*place, zero], builder.int(64))?;
                call.push(calls.context, Group::Scalars, ticket);
            }
            if waiter == Waiter::Host {
                calls.limit(&mut call);
            }
            call.build(builder, &[])?;
            Ok(())
        })
    }

    /// Calls the vendor's function that chooses a queue, if there are several.
    fn choose(&self, builder: &Builder<'c>, queue: usize) -> PassResult<'c> {
        let queues = self.device.tickets.as_ref().and_then(|tickets| tickets.queues.as_ref());
        let Some(queues) = queues else { return Ok(()) };
        let mut call = vendor_call(self.context, &queues.select);
        let ty = IntegerType::new(self.context, 64).into();
        call.args.push(IntegerAttribute::new(ty, queue as i64).into());
        call.build(builder, &[])?;
        Ok(())
    }

    fn ticket(&self) -> Type<'c> {
        let number = IntegerType::new(self.context, 64).into();
        MemRefType::new(number, &[1], None, None).into()
    }
}

/// Replaces the operations on tickets by calls of the device's functions.
pub fn lower<'c>(module: Op<'c>) -> PassResult<'c> {
    for op in edit::walk(module) {
        let (tickets, slot, callee, keeps, group) = match (tir::Submit::of(op), tir::Wait::of(op)) {
            (Some(submit), _) => {
                (submit.tickets(), submit.slot(), submit.callee(), vec![], Group::Outs)
            }
            (_, Some(wait)) => {
                (wait.tickets(), wait.slot(), wait.callee(), wait.keeps(), Group::Ins)
            }
            _ => continue,
        };
        let builder = Builder::before(op)?;
        let function = func::functions(module)
            .into_iter()
            .find(|function| func::symbol(*function) == callee)
            .ok_or_else(|| {
                PassError::at(&op, format!("names the function @{callee}, which is not there"))
            })?;
        let target = ir::attr_str(function, names::TARGET)
            .ok_or_else(|| PassError::at(&op, format!("names @{callee}, which is of no target")))?;
        let place = slot_of(&builder, tickets, slot)?;
        let mut call = vendor_call(builder.context, callee);
        call.set(names::DEVICE, builder.str_attr(&target));
        if function.has_attribute(names::SESSION) {
            call.set(names::SESSION, Attribute::unit(builder.context));
        }
        call.push(builder.context, group, place);
        if !keeps.is_empty() {
            call.set("keeps", Attribute::unit(builder.context));
        }
        for buffer in keeps {
            call.add(Group::Ins, buffer);
        }
        call.build(&builder, &[])?;
        edit::erase(op);
    }
    Ok(())
}

/// The place of a ticket.
fn slot_of<'c>(builder: &Builder<'c>, tickets: Val<'c>, slot: i64) -> PassResult<'c, Val<'c>> {
    let ty = builder.parse_type(&format!("memref<1xi64, strided<[1], offset: {slot}>>"))?;
    let attributes: Vec<(&str, Attribute<'c>)> = vec![
        ("static_offsets", builder.i64s_attr(&[slot])),
        ("static_sizes", builder.i64s_attr(&[1])),
        ("static_strides", builder.i64s_attr(&[1])),
        ("operandSegmentSizes", DenseI32ArrayAttribute::new(builder.context, &[1, 0, 0, 0]).into()),
    ];
    let spec = OpSpec { operands: &[tickets], results: &[ty], attributes, ..Default::default() };
    Ok(ir::result0(builder.create("memref.subview", spec)?)?)
}
