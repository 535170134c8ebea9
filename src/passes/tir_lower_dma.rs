//! `tir-lower-dma`: turns DMA transfers into calls of the device's functions.
//!
//! The functions are those that the manifest declares for the pool (`[pool.dma]`), which the
//! attribute `phl.dma` of the function carries. A device knows a transfer by its channel, so tokens
//! go away: a wait names the channel of the transfer that it waits for. Where the pool has no
//! function that waits, a transfer is over when its function returns.

use crate::{
    expr::{Expr, ExprKind, Val as Number},
    ir::{
        self, Builder, Op, OpSpec, Val,
        call_extern::{self, CallExtern, Group, arg_attr, offset_attr},
        edit, memref,
        names::DMA,
        tir,
        view::OpView,
    },
    pass::{PassResult, OptionValues, Pass, PassError},
    pattern::{
        CType, CallProto, Param, Returns,
        tile::{
            dma::{Transfer, value},
            given_name,
        },
    },
    tensor::DType,
    tile::{
        attribute::pools_of,
        pool::{Dma, Pool},
    },
};
use melior::ir::{
    Attribute, Region, Type, ValueLike,
    attribute::{FloatAttribute, IntegerAttribute},
    block::BlockLike,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "tir-lower-dma",
    summary: "Turn DMA transfers into calls of the functions that a manifest declares",
    anchor: "func.func",
    options: &[],
    dialects: &["scf", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> PassResult<'c> {
    let ops = edit::walk(function);
    let mut starts = vec![];
    let ways = Ways::of(function)?;
    for op in &ops {
        if let Some(waits) = tir::DmaWait::of(*op) {
            let start = start_of(*op, waits.token(), 0)?;
            wait(*op, start, ways.of_transfer(start)?)?;
        } else if tir::DmaStart::of(*op).is_some() {
            starts.push(*op);
        } else if tir::DmaCopy::of(*op).is_some() {
            return Err(PassError::at(op, "is no split transfer: run tir-insert-dma"));
        }
    }
    let carries = |op: &Op<'c>| {
        ir::op_name(*op) == "scf.for"
            && ir::results(*op).iter().any(|value| ir::types::is_token(value.r#type()))
    };
    // Inner loops come after the loops around them, so they are rebuilt first.
    for op in function_loops(function).into_iter().rev().filter(carries) {
        drop_tokens(op)?;
    }
    for start in starts {
        lower_start(start, ways.of_transfer(start)?)?;
    }
    Ok(())
}

fn function_loops<'c>(function: Op<'c>) -> Vec<Op<'c>> {
    edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "scf.for").collect()
}

/// A transfer of the channel that a token stands for.
fn start_of<'c>(wait: Op<'c>, token: Val<'c>, depth: usize) -> PassResult<'c, Op<'c>> {
    let unknown = || {
        PassError::at(
            &wait,
            "waits for a transfer whose channel is not known when compiling: \
             carry each token from one place, and give its transfer a number as channel",
        )
    };
    if depth > 64 {
        return Err(unknown());
    }
    if let Some((block, index)) = edit::owner_block(token) {
        // An argument of a loop, after the induction variable and three bounds.
        let parent = block.parent_operation().filter(|op| ir::op_name(*op) == "scf.for");
        let parent = parent.ok_or_else(unknown)?;
        let initial = *ir::operands(parent).get(index + 2).ok_or_else(unknown)?;
        let from_outside = start_of(wait, initial, depth + 1)?;
        let yielded =
            ir::ops(block).last().and_then(|op| ir::operands(*op).get(index - 1).copied());
        let start = yielded.and_then(edit::defining_op);
        let inside = start.filter(|op| tir::DmaStart::of(*op).is_some());
        let same = inside.is_none_or(|op| static_channel(op) == static_channel(from_outside));
        return if same { Ok(from_outside) } else { Err(unknown()) };
    }
    let op = edit::defining_op(token).ok_or_else(unknown)?;
    match ir::op_name(op) {
        tir::DmaStart::NAME if static_channel(op).is_some() => Ok(op),
        "scf.for" => {
            let results = ir::results(op);
            let index = results.iter().position(|value| *value == token).ok_or_else(unknown)?;
            let initial = *ir::operands(op).get(index + 3).ok_or_else(unknown)?;
            start_of(wait, initial, depth + 1)
        }
        _ => Err(unknown()),
    }
}

fn static_channel(start: Op<'_>) -> Option<i64> {
    tir::DmaStart::of(start)?.static_channel()
}

/// Access to the pools of a function.
struct Ways(Vec<Pool>);

impl Ways {
    fn of<'c>(function: Op<'c>) -> PassResult<'c, Self> {
        pools_of(function).map(Self).map_err(|error| PassError::at(&function, error))
    }

    fn of_transfer<'c>(&self, start: Op<'c>) -> PassResult<'c, &Dma> {
        let ends = ir::operands(start);
        let pool = ends.iter().find_map(|value| memref::space(value.r#type()));
        let way = self.0.iter().find(|way| Some(&way.name) == pool.as_ref());
        way.map(|way| &way.dma).ok_or_else(|| {
            PassError::at(
                &start,
                format!(
                    "is to or from pool '{}', and its function has no {DMA} that says \
                     how: declare [pool.dma] in the manifest",
                    pool.unwrap_or_default()
                ),
            )
        })
    }
}

fn wait<'c>(op: Op<'c>, start: Op<'c>, way: &Dma) -> PassResult<'c> {
    if let Some(text) = &way.wait {
        let channel = static_channel(start).unwrap_or_default();
        let b = Builder::before(op)?;
        let transfer = Transfer { channel, ..Transfer::default() };
        let maker = Maker { b: &b, op, transfer, given: None, arrays: &[] };
        maker.call(text, None)?.build(&b, &[])?;
    }
    edit::erase(op);
    Ok(())
}

fn lower_start<'c>(op: Op<'c>, way: &Dma) -> PassResult<'c> {
    let b = Builder::before(op)?;
    let begun = tir::DmaStart::of(op).ok_or_else(|| PassError::at(&op, "is no transfer"))?;
    if begun.channel().is_some() {
        return Err(PassError::at(&op, "has a channel that is computed; a number is needed"));
    }
    let (source, target) = (begun.source(), begun.target());
    let of = |value: Val<'c>| memref::space(value.r#type());
    let (from, to) = (of(source), of(target));
    let loads = from.is_none();
    // A kept tile goes from a pool to that which `keep-in` names.
    let keeps = from.is_some() && to.is_some() && to == way.keep_in;
    if !keeps && loads == to.is_none() {
        return Err(PassError::at(&op, "is not between the host's memory and a device's"));
    }
    let arrays = begun.with();
    let (host, tile) = if loads { (source, target) } else { (target, source) };
    let transfer = transfer(op, host.r#type(), tile.r#type(), way.dims)?;
    let (text, what) = match loads {
        true => (&way.load, "load"),
        false if keeps => (&way.keep, "keep"),
        false => (&way.store, "store"),
    };
    let text = text.as_ref().ok_or_else(|| {
        let message = format!("moves a tile, but [pool.dma] of its pool has no `{what}`");
        PassError::at(&op, message)
    })?;
    let mut call = Maker { b: &b, op, transfer, given: begun.given(), arrays: &arrays }.call(text, Some((host, tile, loads)))?;
    call.set("strided", Attribute::unit(b.context));
    call.build(&b, &[])?;
    edit::erase(op);
    Ok(())
}

/// The shape of a transfer: dimensions that are adjacent on both sides are one.
fn transfer<'c>(op: Op<'c>, host: Type<'c>, tile: Type<'c>, most: i64) -> PassResult<'c, Transfer> {
    let bytes = |ty| ir::size::element_bytes(ir::element_type(ty)).map(|bytes| bytes as i64);
    let sizes = [bytes(host), bytes(tile)];
    let strides = [host, tile].map(memref::static_strides);
    let ([Some(host), Some(spad)], [Some(bytes), Some(own)]) = (strides, sizes) else {
        return Err(PassError::at(&op, format!("copies {tile}, whose strides are not known")));
    };
    let mut dims: Vec<[i64; 3]> = vec![];
    for (index, count) in ir::dims(tile).into_iter().enumerate() {
        let dim = [count, host[index] * bytes, spad[index] * own];
        match dims.last_mut() {
            Some(last) if last[0] == 1 => *last = dim,
            Some(last) if last[1] == dim[1] * count && last[2] == dim[2] * count => {
                *last = [last[0] * count, dim[1], dim[2]];
            }
            Some(_) if count == 1 => {}
            _ => dims.push(dim),
        }
    }
    // The last dimension has adjacent elements, be it only one.
    if dims.last().is_some_and(|last| last[1..] != [bytes, own]) && (dims.len() as i64) < most {
        dims.push([1, bytes, own]);
    }
    let rank = dims.len() as i64;
    if rank > most {
        let message = format!("has {rank} dimensions, and the device moves {most} at most");
        return Err(PassError::at(&op, message));
    }
    let fill = std::iter::repeat_n([1, 0, 0], (most - rank).max(0) as usize);
    let dims: Vec<[i64; 3]> = fill.chain(dims).collect();
    let list = |place: usize| dims.iter().map(|dim| dim[place]).collect();
    Ok(Transfer {
        channel: static_channel(op).unwrap_or_default(),
        element: bytes,
        tile_element: own,
        rank,
        count: list(0),
        host_stride: list(1),
        tile_stride: list(2),
    })
}

/// Makes the call of one transfer.
struct Maker<'c, 'a> {
    b: &'a Builder<'c>,
    op: Op<'c>,
    transfer: Transfer,
    /// Further arguments for the function, by name, and their arrays.
    given: Option<Attribute<'c>>,
    arrays: &'a [Val<'c>],
}

impl<'c> Maker<'c, '_> {
    /// The call of a prototype; `ends` are the host's memory, the tile, and whether it is loaded.
    fn call(
        &self,
        text: &str,
        ends: Option<(Val<'c>, Val<'c>, bool)>,
    ) -> PassResult<'c, CallExtern<'c>> {
        let proto = CallProto::parse(text).map_err(|error| PassError::at(&self.op, error))?;
        let mut call = CallExtern::new(&proto.symbol);
        let unit = Attribute::unit(self.b.context);
        let mut args = vec![];
        for param in &proto.params {
            match param {
                Param::Device => call.set("with_device", unit),
                param => args.push(self.argument(&mut call, param, ends)?),
            }
        }
        call.args = args;
        if proto.returns == Returns::Status {
            call.set("returns_status", unit);
        }
        Ok(call)
    }

    fn argument(
        &self,
        call: &mut CallExtern<'c>,
        param: &Param,
        ends: Option<(Val<'c>, Val<'c>, bool)>,
    ) -> PassResult<'c, Attribute<'c>> {
        let context = self.b.context;
        let fault = |what: String| PassError::at(&self.op, what);
        Ok(match param {
            Param::In { capture: name, .. } | Param::Out { name, .. } => {
                let (host, tile, loads) =
                    ends.ok_or_else(|| fault(format!("waits with '{param}', which it has not")))?;
                let is_tile = name == "tile";
                let group = if is_tile == loads { Group::Outs } else { Group::Ins };
                let index = call.add(group, if is_tile { tile } else { host });
                if name == "host" {
                    arg_attr(context, group, index)
                } else {
                    offset_attr(context, group, index)
                }
            }
            Param::Name(name) => self.b.parse_attr(&format!("#tir.name<{name:?}>"))?,
            Param::Struct { ty, fields } => {
                let mut made = vec![];
                for (name, field) in fields {
                    made.push((name.clone(), self.argument(call, field, ends)?));
                }
                let fields = edit::dictionary_attr(context, &made);
                self.b.parse_attr(&format!("#tir.struct<{ty:?}, {fields}>"))?
            }
            Param::Scalar { ty: CType::Scalar(dtype), value } if dtype.is_float() => {
                let single = *dtype == DType::F32;
                let number = self.value(value)?.as_f64();
                let number = number.ok_or_else(|| fault(format!("`{value}` is no number")))?;
                FloatAttribute::new(context, if single { self.b.f32() } else { self.b.f64() }, number)
                    .into()
            }
            Param::Scalar { value, .. } => match self.value(value)? {
                Number::Float(number) => {
                    return Err(fault(format!("passes {number} where an integer is due")));
                }
                _ => self.number(value)?,
            },
            Param::Value(value) => self.number(value)?,
            Param::Const { values, .. } => {
                let array = given_name(values).and_then(|name| self.given(name));
                let place = array.and_then(call_extern::arg_of).map(|(_, index, _)| index);
                let array = place.and_then(|place| self.arrays.get(place)).copied();
                let array = array.ok_or_else(|| fault(format!("is given no array `{values}`")))?;
                let index = call.add(Group::Ins, array);
                arg_attr(context, Group::Ins, index)
            }
            Param::Device | Param::Scratch { .. } => {
                return Err(fault(format!("cannot pass '{param}' to a transfer")));
            }
        })
    }

    /// An argument by its name.
    fn given(&self, name: &str) -> Option<Attribute<'c>> {
        let given = self.given.map(edit::dictionary).unwrap_or_default();
        given.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn value(&self, expr: &Expr) -> PassResult<'c, Number> {
        let closed = expr.replace(&mut |part| {
            let given = self.given(given_name(part)?)?;
            let int = ir::attribute::int(given).map(ExprKind::Int);
            int.or_else(|| ir::attribute::float(given).map(ExprKind::Float))
        });
        value(&closed, &self.transfer).map_err(|error| PassError::at(&self.op, error))
    }

    fn number(&self, expr: &Expr) -> PassResult<'c, Attribute<'c>> {
        let context = self.b.context;
        let int = |value: i64| -> Attribute<'c> {
            let bits = if i32::try_from(value).is_ok() { 32 } else { 64 };
            IntegerAttribute::new(self.b.int(bits), value).into()
        };
        match self.value(expr)? {
            Number::Int(number) => Ok(int(number)),
            Number::Bool(value) => Ok(int(i64::from(value))),
            Number::Float(number) => Ok(FloatAttribute::new(context, self.b.f64(), number).into()),
            Number::List(items) => {
                let items: Option<Vec<String>> =
                    items.iter().map(|item| item.as_int().map(|item| item.to_string())).collect();
                let items = items.ok_or_else(|| {
                    PassError::at(&self.op, format!("`{expr}` is no list of integers"))
                })?;
                Ok(self.b.parse_attr(&format!("array<i64: {}>", items.join(", ")))?)
            }
            other => Err(PassError::at(&self.op, format!("`{expr}` is {other}, no number"))),
        }
    }
}

/// Builds a loop again that carried only tokens, without them.
fn drop_tokens<'c>(op: Op<'c>) -> PassResult<'c> {
    let results = ir::results(op);
    if !results.iter().all(|value| ir::types::is_token(value.r#type())) {
        return Err(PassError::at(&op, "carries tokens of transfers together with other values"));
    }
    let b = Builder::before(op)?;
    let body = edit::entry_block(op).ok_or_else(|| PassError::at(&op, "has no body"))?;
    let region = Region::new();
    let block = edit::append_block(&region, &[(b.index_type(), b.location)]);
    edit::replace_uses(edit::arguments(body)[0], edit::arguments(block)[0]);
    for inner in ir::ops(body) {
        if ir::op_name(inner) != "scf.yield" {
            edit::move_to_end(inner, block);
        }
    }
    Builder::at_end(b.context, block, b.location).create("scf.yield", OpSpec::default())?;
    let bounds = &ir::operands(op)[..3];
    let spec = OpSpec { operands: bounds, regions: vec![region], ..Default::default() };
    b.create("scf.for", spec)?;
    edit::erase(op);
    Ok(())
}
