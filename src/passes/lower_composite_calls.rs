//! `lower-composite-calls`: composites whose pattern has a prototype become calls of its function.
//!
//! ```text
//! %y = graph.composite "npu.conv" target("npu") config({callee = "npu_conv", ...}) (...)
//!   -->  %y = tir.call_extern @npu_conv ins(...) outs(...) args [...]
//! ```
//! The arguments were computed when the composite was made: see [`crate::outline::call`].

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group, KEEPS, arg_of},
        composite_call::CompositeCall,
        edit, elements, graph, names, size,
        view::OpView,
    },
    lower::shape::reshape,
    pass::{OptionValues, Pass, PassError},
    tensor::{AlignedBuffer, BUFFER_ALIGN, pack},
    tile::{
        attribute::from_attribute,
        plan::{Plan, Tensor},
    },
};
use melior::ir::{
    Attribute, AttributeLike, Type, ValueLike, attribute::ArrayAttribute, r#type::IntegerType,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "lower-composite-calls",
    summary: "Turn composites whose pattern has a prototype into calls",
    anchor: "func.func",
    options: &[],
    dialects: &["tensor", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let mut composites = vec![];
    collect(function, &mut composites)?;
    let owner = ir::attr_str(function, names::TARGET);
    composites.into_iter().try_for_each(|(op, call)| {
        let target = ir::attr_str(op, "target");
        // A call in a function of another target, which is the host's.
        let inline = target.filter(|target| owner.as_ref().is_some_and(|owner| owner != target));
        lower(op, call, inline)
    })
}

/// The composites with a call inside of `op`, but not those inside of such composites, which go with
/// these.
fn collect<'c>(
    op: Op<'c>,
    found: &mut Vec<(Op<'c>, CompositeCall<'c>)>,
) -> Result<(), PassError<'c>> {
    for inner in ir::ops_of(op) {
        let call = if graph::Composite::is(inner) { CompositeCall::of(inner) } else { Ok(None) };
        match call.map_err(|reason| PassError::at(&inner, reason))? {
            Some(call) => found.push((inner, call)),
            None => collect(inner, found)?,
        }
    }
    Ok(())
}

fn lower<'c>(
    composite: Op<'c>,
    found: CompositeCall<'c>,
    inline: Option<String>,
) -> Result<(), PassError<'c>> {
    let b = Builder::before(composite)?;
    let mut call = CallExtern::new(&found.callee);
    let in_host = add_ins(&b, composite, &found, &mut call)?;
    let made = add_outs(&b, composite, &found, &mut call)?;
    set_attributes(&b, composite, &found, &mut call)?;
    call.args = found.args;
    if let Some(target) = inline {
        call.set(names::INLINE, b.str_attr(&target));
        if !found.headers.is_empty() {
            add_headers(&b, &found.headers, &mut call);
        }
    }
    if !in_host.is_empty() {
        call.set(names::HOST_INS, b.i64s_attr(&in_host));
    }
    let types: Vec<_> = made.iter().map(|(_, ty)| *ty).collect();
    let op = call.build(&b, &types)?;
    for ((old, _), new) in made.into_iter().zip(ir::results(op)) {
        let new = reshape(&b, new, &ir::dims(old.r#type()))?;
        edit::replace_uses(old, new);
    }
    edit::erase(composite);
    Ok(())
}

/// Records the headers with the body of a call, and the signedness of integers in its buffers,
/// which types soon lose.
fn add_headers<'c>(b: &Builder<'c>, headers: &[String], call: &mut CallExtern<'c>) {
    let headers: Vec<_> = headers.iter().map(|name| b.str_attr(name)).collect();
    call.set(names::INLINE_HEADERS, ArrayAttribute::new(b.context, &headers).into());
    let is_unsigned = |argument: &Attribute<'c>| {
        let (group, index, _) = arg_of(*argument).filter(|(group, ..)| *group != Group::Scratch)?;
        let value = call.groups.get(group as usize)?.get(index)?;
        IntegerType::try_from(ir::element_type(value.r#type())).ok().filter(IntegerType::is_unsigned)
    };
    let places = call.args.iter().zip(0..).filter(|(argument, _)| is_unsigned(argument).is_some());
    let places: Vec<i64> = places.map(|(_, place)| place).collect();
    if !places.is_empty() {
        call.set(names::UNSIGNED, b.i64s_attr(&places));
    }
}

fn malformed<'c>(composite: Op<'c>) -> PassError<'c> {
    PassError::at(&composite, "has a config that describes no call")
}

/// Gives a call what it reads. Returns the places of arrays of its own, which are for the code that
/// makes it and runs on the host.
fn add_ins<'c>(
    b: &Builder<'c>,
    composite: Op<'c>,
    found: &CompositeCall<'c>,
    call: &mut CallExtern<'c>,
) -> Result<Vec<i64>, PassError<'c>> {
    let malformed = || malformed(composite);
    let operands = ir::operands(composite);
    let mut consts = found.consts.iter().copied();
    let mut in_host = vec![];
    for place in &found.ins {
        let value = match usize::try_from(*place) {
            Ok(place) => *operands.get(place).ok_or_else(malformed)?,
            Err(_) => {
                let value = consts.next().ok_or_else(malformed)?;
                if !value.is_elements() {
                    return Err(malformed());
                }
                in_host.push(call.groups[Group::Ins as usize].len() as i64);
                graph::Constant::build(b, value)?.y()
            }
        };
        call.add(Group::Ins, packed(b, composite, (value, found.tile.is_some()))?);
    }
    for place in &found.flat_ins {
        let slot =
            usize::try_from(*place).ok().and_then(|p| call.groups[Group::Ins as usize].get_mut(p));
        let slot = slot.ok_or_else(malformed)?;
        if ir::dims(slot.r#type()).len() == 1 {
            continue;
        }
        *slot = reshape(b, *slot, &[count(*slot).ok_or_else(malformed)?])?;
    }
    Ok(in_host)
}

/// Gives a call what it writes. Returns the results that this is, each with its type in the call.
fn add_outs<'c>(
    b: &Builder<'c>,
    composite: Op<'c>,
    found: &CompositeCall<'c>,
    call: &mut CallExtern<'c>,
) -> Result<Vec<(Val<'c>, Type<'c>)>, PassError<'c>> {
    let malformed = || malformed(composite);
    let (operands, results) = (ir::operands(composite), ir::results(composite));
    let (mut made, mut over) = (vec![], vec![]);
    for place in &found.outs {
        let place = usize::try_from(*place).map_err(|_| malformed())?;
        let result = *results.get(place).ok_or_else(malformed)?;
        let ty = match found.flat_outs.contains(&(made.len() as i64)) {
            true => {
                let count = count(result).ok_or_else(malformed)?;
                b.tensor(&[count], ir::element_type(result.r#type()))
            }
            false => result.r#type(),
        };
        let old = found.over.get(made.len()).and_then(|place| usize::try_from(*place).ok());
        let destination = match old {
            Some(old) => {
                let old = *operands.get(old).ok_or_else(malformed)?;
                over.push(made.len() as i64);
                reshape(b, old, &ir::dims(ty))?
            }
            None => b.empty(ty)?,
        };
        if destination.r#type() != ty {
            return Err(malformed());
        }
        call.add(Group::Outs, destination);
        made.push((result, ty));
    }
    if !over.is_empty() {
        call.set("accumulate", Attribute::unit(b.context));
        call.set(names::OVER, b.i64s_attr(&over));
    }
    Ok(made)
}

/// Gives a call what else is known of the function.
fn set_attributes<'c>(
    b: &Builder<'c>,
    composite: Op<'c>,
    found: &CompositeCall<'c>,
    call: &mut CallExtern<'c>,
) -> Result<(), PassError<'c>> {
    let unit = Attribute::unit(b.context);
    for (name, set) in
        [("with_device", found.with_device), ("returns_status", found.returns_status)]
    {
        if set {
            call.set(name, unit);
        }
    }
    if let Some(prototype) = &found.prototype {
        call.set("prototype", b.str_attr(prototype));
    }
    if found.scratch_bytes != 0 {
        call.set("scratch_bytes", b.i64_attr(found.scratch_bytes));
    }
    if let Some(tile) = found.tile {
        call.set(names::TILE, tile);
        // Arrays for stores are no arguments of the call, and go once it is cut into tiles.
        let plan: Plan = from_attribute(tile).map_err(|_| malformed(composite))?;
        if plan.tensors.iter().any(Tensor::has_arrays) {
            call.set(KEEPS, unit);
        }
    }
    Ok(())
}

/// A constant whose elements have less than a byte as bytes, as ONNX packs it: in row-major order, the
/// first in the low bits. Tiles are of rows of whole bytes. Others are returned as they are.
fn packed<'c>(
    b: &Builder<'c>,
    composite: Op<'c>,
    (value, has_tiles): (Val<'c>, bool),
) -> Result<Val<'c>, PassError<'c>> {
    let ty = value.r#type();
    let Some(bits) = size::packed_bits(ir::element_type(ty)) else { return Ok(value) };
    let Some(constant) = edit::defining_op(value).and_then(graph::Constant::of) else {
        return Err(PassError::at(
            &composite,
            format!(
                "passes a value of type {ty} that is no constant: its elements have no packed form"
            ),
        ));
    };
    let bytes = pack(&elements::bytes(constant.value())?, bits);
    let mut dims = vec![bytes.len() as i64];
    let rows = ir::dims(ty);
    if has_tiles && let Some((last, outer)) = rows.split_last() {
        dims = [outer, &[last * bits as i64 / 8]].concat();
    }
    let ty = b.tensor(&dims, b.parse_type("ui8")?);
    let data = AlignedBuffer::copy_of(&bytes).map_err(crate::Error::from)?;
    let attribute = elements::resource(ty, &elements::name_in(b, "packed"), data, BUFFER_ALIGN)?;
    Ok(graph::Constant::build(b, attribute)?.y())
}

/// The number of elements of a tensor whose dimensions are known.
fn count(value: Val<'_>) -> Option<i64> {
    ir::static_dims(value.r#type())?
        .into_iter()
        .try_fold(1, |count: i64, dim| count.checked_mul(dim))
}
