//! Additions and activations: reading them off composites, and their tiles.

use super::{
    HEADER, LAYER,
    emit::{Offset, allocate, fetch, insert, repeat, space},
    layer::Activation,
    pieces::{Axis, Run},
};
use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group, arg_attr},
        edit,
    },
    lower::Elements,
};
use melior::ir::{Attribute, ValueLike, operation::OperationLike};

/// A composite that computes each element of its result from the same element of its operands.
pub struct Elementwise {
    /// The positions of one or two data operands of the composite.
    pub inputs: Vec<usize>,
    /// What is applied to their sum.
    pub activation: Activation,
}

impl Elementwise {
    /// Reads a composite; none if it is of another kind.
    pub fn read(composite: Op<'_>) -> Option<Self> {
        let body = edit::entry_block(composite)?;
        let argument = |value: Val<'_>| {
            let (_, index) = edit::owner_block(value)?;
            Some(index)
        };
        let mut found: Option<Self> = None;
        for op in ir::ops(body) {
            let operands = ir::operands(op);
            let name = ir::op_name(op);
            match (name, &mut found) {
                ("graph.constant" | "graph.yield", _) => {}
                ("graph.add", None) => {
                    let result = ir::dims(ir::result0(op).r#type());
                    let same = operands.iter().all(|value| ir::dims(value.r#type()) == result);
                    let inputs: Option<Vec<_>> = operands.iter().map(|v| argument(*v)).collect();
                    let inputs = inputs.filter(|_| same)?;
                    found = Some(Self { inputs, activation: Activation::None });
                }
                ("graph.relu" | "graph.clip", found) => {
                    let activation = activation(op)?;
                    match found {
                        Some(found) if found.activation == Activation::None => {
                            found.activation = activation;
                        }
                        Some(_) => return None,
                        None => {
                            *found =
                                Some(Self { inputs: vec![argument(operands[0])?], activation });
                        }
                    }
                }
                _ => return None,
            }
        }
        found
    }

    fn function(&self) -> &'static str {
        if self.inputs.len() == 2 { "vanilla_add" } else { "vanilla_activate" }
    }

    /// The call for all elements at once, which stands for the composite.
    pub fn call<'c>(&self, b: &Builder<'c>, inputs: &[Val<'c>], output: Val<'c>) -> Result<Op<'c>> {
        let ty = output.r#type();
        let wrong = ir::element_type(ty).to_string() != "f32"
            || ir::static_dims(ty).is_none_or(|dims| dims.is_empty() || dims.len() > 4);
        if wrong {
            return Err(Error::unsupported(format!(
                "is for vanilla, which cannot compute element by element on {ty}: the predicates \
                 of its patterns have to refuse it"
            )));
        }
        let activation = format!("#tir.name<\"{}\">", self.activation.name());
        let activation = b.parse_attr(&activation)?;
        let mut call = build(b, self.function(), activation, inputs, output)?;
        call.set(LAYER, Attribute::unit(b.context));
        call.build(b, &[ty])
    }
}

/// The activation that an operation is: a clip has bounds in its decomposition, which is all that
/// an operation alone has around it.
fn activation(op: Op<'_>) -> Option<Activation> {
    if ir::op_name(op) == "graph.relu" {
        return Some(Activation::Relu);
    }
    let composite = op.parent_operation();
    let bounds: Option<Vec<f64>> = ir::operands(op)[1..]
        .iter()
        .map(|value| {
            let outside = edit::owner_block(*value)
                .and_then(|(_, index)| ir::operands(composite?).get(index).copied());
            Some(Elements::of_value(outside.unwrap_or(*value))?.float(0))
        })
        .collect();
    (bounds?[..] == [0.0, 6.0]).then_some(Activation::Relu6)
}

/// Whether a call is one of those made here.
pub fn is_elementwise(call: &CallExtern<'_>) -> bool {
    ["vanilla_add", "vanilla_activate"].contains(&call.callee.as_str())
}

fn build<'c>(
    b: &Builder<'c>,
    function: &str,
    activation: Attribute<'c>,
    inputs: &[Val<'c>],
    output: Val<'c>,
) -> Result<CallExtern<'c>> {
    let mut call = CallExtern::new(function);
    let count: i64 = ir::dims(output.r#type()).iter().product();
    call.args = vec![b.parse_attr(&format!("{count} : i32"))?, activation];
    let groups = inputs.iter().map(|value| (Group::Ins, *value)).chain([(Group::Outs, output)]);
    for (group, value) in groups {
        let index = call.add(group, value);
        let argument = arg_attr(b.context, group, index).to_string();
        call.args.push(b.parse_attr(&argument.replace('>', ", offset>"))?);
    }
    let unit = Attribute::unit(b.context);
    call.set("header", b.str_attr(HEADER));
    call.set("with_device", unit);
    call.set("returns_status", unit);
    Ok(call)
}

/// Replaces a whole-layer call by loops over tiles: of all elements of the inner dimensions, as
/// many as fit. The result is in `output`. `bytes` is the size of one buffer of a tile.
pub fn tile<'c>(
    b: &Builder<'c>,
    call: &CallExtern<'c>,
    output: Val<'c>,
    bytes: i64,
) -> Result<Val<'c>> {
    let dims = ir::dims(output.r#type());
    // From the last dimension outwards, as many elements as fit.
    let mut room = (bytes / 4).max(1);
    let mut sizes = dims.clone();
    for size in sizes.iter_mut().rev() {
        *size = (*size).min(room).max(1);
        room /= *size;
    }
    let runs: Vec<_> =
        dims.iter().zip(&sizes).map(|(dim, size)| Axis::plain(*dim).runs(*size, false)).collect();
    nest(b, call, &runs, &mut vec![], output)
}

fn nest<'c>(
    b: &Builder<'c>,
    call: &CallExtern<'c>,
    runs: &[Vec<Run>],
    places: &mut Vec<(Run, Option<Val<'c>>)>,
    output: Val<'c>,
) -> Result<Val<'c>> {
    let Some((first, rest)) = runs.split_first() else { return compute(b, call, places, output) };
    first.iter().try_fold(output, |output, run| {
        repeat(b, run.count, output, |b, iv, output| {
            places.push((*run, iv));
            let result = nest(b, call, rest, places, output);
            places.pop();
            result
        })
    })
}

/// One tile.
fn compute<'c>(
    b: &Builder<'c>,
    call: &CallExtern<'c>,
    places: &[(Run, Option<Val<'c>>)],
    output: Val<'c>,
) -> Result<Val<'c>> {
    let sizes: Vec<_> = places.iter().map(|(run, _)| run.piece.output_size).collect();
    let mut offsets = vec![];
    for (run, iv) in places {
        offsets.push(Offset::of(b, *iv, run.piece.output, run.output_step)?);
    }
    let mut inputs = vec![];
    for value in &call.groups[Group::Ins as usize] {
        inputs.push(fetch(b, *value, &offsets, &sizes)?);
    }
    let ty = b.tensor(&sizes, b.f32());
    let buffer = allocate(b, ty, None, ("memory_space", space(b)?))?;
    let activation = call.args.get(1).copied();
    let activation = activation.ok_or_else(|| Error::internal("a call without an activation"))?;
    let new = build(b, &call.callee, activation, &inputs, buffer)?;
    let result = ir::result0(new.build(b, &[ty])?);
    insert(b, result, output, &offsets, &sizes)
}
