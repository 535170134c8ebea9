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
        call_extern::{CallExtern, Group},
        edit,
    },
    lower::shape::reshape,
    outline::call::config,
    pass::{OptionValues, Pass, PassError},
    tile::plan,
};
use melior::ir::{Attribute, AttributeLike, ValueLike, operation::OperationLike};

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
    collect(function, &mut composites);
    composites.into_iter().try_for_each(|(op, config)| lower(op, &config))
}

/// The composites with a call inside of `op`, but not those inside of such composites, which go with
/// these.
fn collect<'c>(op: Op<'c>, found: &mut Vec<(Op<'c>, Config<'c>)>) {
    for inner in ir::ops_of(op) {
        let is_composite = ir::op_name(inner) == "graph.composite";
        match is_composite.then(|| Config::of(inner)).flatten() {
            Some(config) => found.push((inner, config)),
            None => collect(inner, found),
        }
    }
}

/// The attribute that describes the call.
struct Config<'c> {
    fields: Vec<(String, Attribute<'c>)>,
    callee: String,
}

impl<'c> Config<'c> {
    fn of(composite: Op<'c>) -> Option<Self> {
        let fields = edit::dictionary(composite.attribute("config").ok()?);
        let callee = fields.iter().find(|(name, _)| name == config::CALLEE);
        let callee = callee.and_then(|(_, value)| edit::string(*value))?;
        Some(Self { fields, callee })
    }

    fn get(&self, name: &str) -> Option<Attribute<'c>> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    }

    fn list(&self, name: &str) -> Vec<Attribute<'c>> {
        self.get(name).map(edit::array).unwrap_or_default()
    }
}

fn lower<'c>(composite: Op<'c>, found: &Config<'c>) -> Result<(), PassError<'c>> {
    let b = Builder::before(composite)?;
    let malformed = || PassError::at(&composite, "has a config that describes no call");
    let operands = ir::operands(composite);
    let results = ir::results(composite);
    let mut call = CallExtern::new(&found.callee);
    let mut consts = found.list(config::CONSTS).into_iter();
    for place in found.get(config::INS).and_then(ir::i64s).ok_or_else(malformed)? {
        let value = match usize::try_from(place) {
            Ok(place) => *operands.get(place).ok_or_else(malformed)?,
            Err(_) => {
                let value = consts.next().ok_or_else(malformed)?;
                let ty = elements_type(value).ok_or_else(malformed)?;
                b.op1_with("graph.constant", &[], ty, vec![("value", value)])?
            }
        };
        call.add(Group::Ins, value);
    }
    let flat = |name| found.get(name).and_then(ir::i64s).unwrap_or_default();
    for place in flat(config::FLAT_INS) {
        let slot = usize::try_from(place).ok().and_then(|p| call.groups[Group::Ins as usize].get_mut(p));
        let slot = slot.ok_or_else(malformed)?;
        *slot = reshape(&b, *slot, &[elements(*slot).ok_or_else(malformed)?])?;
    }
    let flat_outs = flat(config::FLAT_OUTS);
    let mut made = vec![];
    for place in found.get(config::OUTS).and_then(ir::i64s).ok_or_else(malformed)? {
        let place = usize::try_from(place).map_err(|_| malformed())?;
        let result = *results.get(place).ok_or_else(malformed)?;
        let ty = match flat_outs.contains(&(made.len() as i64)) {
            true => {
                let count = elements(result).ok_or_else(malformed)?;
                b.tensor(&[count], ir::element_type(result.r#type()))
            }
            false => result.r#type(),
        };
        call.add(Group::Outs, b.empty(ty)?);
        made.push((result, ty));
    }
    call.args = found.list(config::ARGS);
    for name in [config::DEVICE, config::STATUS, config::PROTOTYPE] {
        if let Some(unit) = found.get(name) {
            call.set(name, unit);
        }
    }
    if let Some(bytes) = found.get(config::SCRATCH).filter(|bytes| bytes.to_string() != "0 : i64") {
        call.set(config::SCRATCH, bytes);
    }
    if let Some(tile) = found.get(config::TILE) {
        call.set(plan::ATTRIBUTE, tile);
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

/// The number of elements of a tensor whose dimensions are known.
fn elements(value: Val<'_>) -> Option<i64> {
    ir::static_dims(value.r#type())?.into_iter().try_fold(1, |count: i64, dim| count.checked_mul(dim))
}

fn elements_type(value: Attribute<'_>) -> Option<melior::ir::Type<'_>> {
    // SAFETY: the kind is checked first; attributes live as long as the context.
    unsafe {
        let raw = value.to_raw();
        mlir_sys::mlirAttributeIsAElements(raw)
            .then(|| melior::ir::Type::from_raw(mlir_sys::mlirAttributeGetType(raw)))
    }
}
