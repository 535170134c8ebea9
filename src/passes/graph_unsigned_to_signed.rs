//! `graph-unsigned-to-signed`: quantized numbers of 8 bits without a sign get one, for targets
//! whose layers are in int8. A number and its zero point are less by 128 then, so that the real
//! values stay the same to the bit. Padding, which is the zero point or the least number, changes
//! with them.
//!
//! Chains change as a whole: from quantization over layers and data movement to dequantization. A
//! value that enters or leaves a chain otherwise, such as an input of the model, is converted
//! there. A zero point that is no constant leaves its chain as it is.

use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, OpSpec, Val, constant::Elements, edit, graph, types::with_element,
        view::OpView,
    },
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{
    Attribute, Type, ValueLike, attribute::FloatAttribute, block::BlockLike,
    operation::OperationLike, r#type::IntegerType,
};
use std::collections::HashMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-unsigned-to-signed",
    summary: "Convert quantized uint8 to int8, with zero points lowered by 128",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

const QUANTIZE: &str = graph::QuantizeLinear::NAME;
const DEQUANTIZE: &str = graph::DequantizeLinear::NAME;

/// Operations whose result has elements of their operands, and of nothing else but padding with the
/// least number.
const MOVES: &[&str] = &[
    graph::Concat::NAME,
    graph::DepthToSpace::NAME,
    graph::Expand::NAME,
    graph::Flatten::NAME,
    graph::Gather::NAME,
    graph::Identity::NAME,
    graph::MaxPool::NAME,
    graph::Reshape::NAME,
    graph::Slice::NAME,
    graph::SpaceToDepth::NAME,
    graph::Split::NAME,
    graph::Squeeze::NAME,
    graph::Tile::NAME,
    graph::Transpose::NAME,
    graph::Unsqueeze::NAME,
];

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    // Without quantization there is no layer of integers to gain.
    if !edit::walk(function).into_iter().any(|op| result_place(op).is_some()) {
        return Ok(());
    }
    name_zero_points(function)?;
    let ops = edit::walk(function);
    Ok(convert_chains(function, &ops)?)
}

/// True for a tensor of unsigned 8-bit numbers.
fn is_unsigned(value: Val<'_>) -> bool {
    let element = ir::element_type(value.r#type());
    ir::is_tensor(value.r#type())
        && ir::integer_width(element) == Some(8)
        && IntegerType::try_from(element).is_ok_and(|ty| ty.is_unsigned())
}

/// The place of the zero point of an operation's result of unsigned numbers.
fn result_place(op: Op<'_>) -> Option<usize> {
    let place = match ir::op_name(op) {
        QUANTIZE => 2,
        graph::QLinearConv::NAME | graph::QLinearMatMul::NAME => 7,
        _ => return None,
    };
    (is_unsigned(ir::result0(op).ok()?) && !is_border(op)).then_some(place)
}

/// The place of the zero point of an operand of unsigned numbers.
fn operand_place(op: Op<'_>, operand: usize) -> Option<usize> {
    let place = match (ir::op_name(op), operand) {
        (DEQUANTIZE, 0) | (graph::QLinearConv::NAME | graph::QLinearMatMul::NAME, 0) => 2,
        (graph::QLinearConv::NAME | graph::QLinearMatMul::NAME, 3) => 5,
        _ => return None,
    };
    (is_unsigned(ir::operands(op)[operand]) && !is_border(op)).then_some(place)
}

/// True if the zero point at this place is a constant.
fn is_known(op: Op<'_>, place: &usize) -> bool {
    let point = ir::operands(op).get(*place).copied();
    point.is_some_and(|point| is_unsigned(point) && Elements::of_value(point).is_some())
}

/// True for an operation of a conversion between both signs, as this pass makes it: a pair whose
/// scales are 1.
fn is_border(op: Op<'_>) -> bool {
    let is_unit = |op: Op<'_>| {
        let scale = ir::operands(op).get(1).copied().and_then(Elements::of_value);
        scale.is_some_and(|scale| scale.len() == 1 && scale.float(0) == 1.0)
    };
    match ir::op_name(op) {
        QUANTIZE => {
            let source = graph::QuantizeLinear::of(op).and_then(|op| edit::defining_op(op.x()));
            let from = source.filter(|source| ir::op_name(*source) == DEQUANTIZE);
            is_unit(op) && from.is_some_and(is_unit)
        }
        DEQUANTIZE => {
            let users = ir::users_of(op);
            let to = |user: &Op<'_>| ir::op_name(*user) == QUANTIZE && is_unit(*user);
            is_unit(op) && !users.is_empty() && users.iter().all(to)
        }
        _ => false,
    }
}

/// Writes the zero points out that are absent, and 0, where the shape of their scale is known.
fn name_zero_points(function: Op<'_>) -> Result<()> {
    for op in edit::walk(function) {
        let operands = ir::operands(op);
        let is_one = result_place(op).is_some() || operand_place(op, 0).is_some();
        let [x, scale] = operands[..] else { continue };
        if !is_one || ir::dims(scale.r#type()).iter().any(|dim| *dim < 0) {
            continue;
        }
        let result = ir::result0(op)?;
        let element = if ir::op_name(op) == QUANTIZE { result.r#type() } else { x.r#type() };
        let builder = Builder::before(op)?;
        let ty = with_element(scale.r#type(), ir::element_type(element));
        let zero = bytes(&builder, ty, &[0])?;
        let attributes: Vec<_> = op
            .attributes()
            .map(|(name, value)| (name.as_string_ref().as_str().unwrap_or("").to_owned(), value))
            .collect();
        let kept = attributes.iter().filter(|(name, _)| name != "to");
        let spec = OpSpec {
            operands: &[x, scale, zero],
            results: &[result.r#type()],
            attributes: kept.map(|(name, value)| (name.as_str(), *value)).collect(),
            ..Default::default()
        };
        let named = builder.create(ir::op_name(op), spec)?;
        edit::replace_uses(result, ir::result0(named)?);
        edit::erase(op);
    }
    Ok(())
}

/// A constant of one byte each, or of one for all.
fn bytes<'c>(b: &Builder<'c>, ty: Type<'c>, values: &[u8]) -> Result<Val<'c>> {
    let value = ir::attribute::dense(ty, values)?;
    b.op1_with(graph::Constant::NAME, &[], ty, vec![("value", value)])
}

/// A constant that is less by 128, with a sign.
fn signed_constant<'c>(constant: Val<'c>) -> Result<Val<'c>> {
    let missing = || Error::internal("a constant without elements");
    let (op, elements) =
        edit::defining_op(constant).zip(Elements::of_value(constant)).ok_or_else(missing)?;
    let count = if elements.is_splat() { 1 } else { elements.len() };
    let data = elements.bytes().get(..count).ok_or_else(missing)?;
    let less: Vec<u8> = data.iter().map(|byte| byte ^ 0x80).collect();
    let builder = Builder::before(op)?;
    bytes(&builder, with_element(constant.r#type(), builder.int(8)), &less)
}

/// Origin of a value.
#[derive(Clone, Copy)]
enum Source {
    Constant,
    /// By quantization, with a zero point at this place.
    Quantized(usize),
    Moved,
    /// Otherwise: it stays, and is converted.
    Outside,
}

/// Use of a value.
#[derive(Clone, Copy)]
enum Use {
    /// By an operation with a zero point for it at this place.
    Dequantized(usize),
    Moved,
    /// Otherwise: by an operation that wants it as it was.
    Outside,
}

/// The unsigned values of a function, joined where operations only move their numbers.
struct Chains<'c> {
    values: Vec<Val<'c>>,
    index: HashMap<ir::Id, usize>,
    /// Another value of the same chain, or the value itself.
    parent: Vec<usize>,
}

impl<'c> Chains<'c> {
    fn of(function: Op<'c>, ops: &[Op<'c>]) -> Self {
        let arguments = edit::entry_block(function).map(edit::arguments).unwrap_or_default();
        let results = ops.iter().flat_map(|op| ir::results(*op));
        let values: Vec<_> =
            arguments.into_iter().chain(results).filter(|value| is_unsigned(*value)).collect();
        let index = values.iter().enumerate().map(|(at, value)| (ir::id(*value), at)).collect();
        let parent = (0..values.len()).collect();
        let mut chains = Self { values, index, parent };
        for op in ops.iter().filter(|op| chains.moves(**op)).copied().collect::<Vec<_>>() {
            let ends: Vec<_> =
                Self::ends(op).filter_map(|v| chains.index.get(&ir::id(v)).copied()).collect();
            for pair in ends.windows(2) {
                let (a, b) = (chains.root(pair[0]), chains.root(pair[1]));
                chains.parent[b] = a;
            }
        }
        chains
    }

    /// The unsigned operands and results of an operation.
    fn ends(op: Op<'c>) -> impl Iterator<Item = Val<'c>> {
        ir::operands(op).into_iter().chain(ir::results(op)).filter(|value| is_unsigned(*value))
    }

    /// True for an operation that only moves numbers, all of which are in chains.
    fn moves(&self, op: Op<'c>) -> bool {
        MOVES.contains(&ir::op_name(op))
            && Self::ends(op).all(|value| self.index.contains_key(&ir::id(value)))
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn source(&self, value: Val<'c>) -> Source {
        let Some(op) = edit::defining_op(value) else { return Source::Outside };
        if let Some(place) = result_place(op).filter(|place| is_known(op, place)) {
            return Source::Quantized(place);
        }
        match ir::op_name(op) {
            graph::Constant::NAME if Elements::of_value(value).is_some() => Source::Constant,
            _ if self.moves(op) => Source::Moved,
            _ => Source::Outside,
        }
    }

    /// The operations that use a value, the place of the operand, and how.
    fn uses(&self, value: Val<'c>) -> Vec<(Op<'c>, usize, Use)> {
        let mut found = vec![];
        let mut users = ir::users(value);
        users.dedup_by(|a, b| edit::same(*a, *b));
        for user in users {
            for (place, operand) in ir::operands(user).into_iter().enumerate() {
                if operand != value
                    || found.iter().any(|(op, at, _)| edit::same(*op, user) && *at == place)
                {
                    continue;
                }
                let point = operand_place(user, place).filter(|point| is_known(user, point));
                let kind = match point {
                    Some(point) => Use::Dequantized(point),
                    None if self.moves(user) => Use::Moved,
                    None => Use::Outside,
                };
                found.push((user, place, kind));
            }
        }
        found
    }

    /// Values that become signed: those of chains that are quantized or dequantized somewhere.
    fn chosen(&mut self) -> Vec<bool> {
        let mut is_chosen = vec![false; self.values.len()];
        for at in 0..self.values.len() {
            let value = self.values[at];
            let is_made = matches!(self.source(value), Source::Quantized(_));
            let is_read = |(_, _, kind): &(_, _, Use)| matches!(kind, Use::Dequantized(_));
            if is_made || self.uses(value).iter().any(is_read) {
                let root = self.root(at);
                is_chosen[root] = true;
            }
        }
        (0..self.values.len()).map(|at| is_chosen[self.root(at)]).collect()
    }
}

fn convert_chains<'c>(function: Op<'c>, ops: &[Op<'c>]) -> Result<()> {
    let mut chains = Chains::of(function, ops);
    let chosen = chains.chosen();
    // All is decided before anything changes.
    let changes: Vec<_> = (chains.values.iter().zip(chosen))
        .filter(|(_, chosen)| *chosen)
        .map(|(value, _)| (*value, chains.source(*value), chains.uses(*value)))
        .collect();
    let mut points = HashMap::new();
    for (value, source, uses) in changes {
        change(value, source, &uses, &mut points)?;
    }
    Ok(())
}

/// Gives a value a sign, for all that can take it so.
fn change<'c>(
    value: Val<'c>,
    source: Source,
    uses: &[(Op<'c>, usize, Use)],
    points: &mut HashMap<ir::Id, Val<'c>>,
) -> Result<()> {
    let unsigned = value.r#type();
    let builder = after(value)?;
    let ty = with_element(unsigned, builder.int(8));
    let signed = match source {
        Source::Constant => signed_constant(value)?,
        Source::Outside => convert(&builder, value, 128, ty)?,
        Source::Moved | Source::Quantized(_) => {
            edit::set_type(value, ty);
            value
        }
    };
    if let (Source::Quantized(place), Some(op)) = (source, edit::defining_op(value)) {
        change_point(op, place, points)?;
        edit::remove_attr(op, "to");
    }
    let mut back = None;
    for (user, place, kind) in uses {
        match kind {
            Use::Dequantized(point) => {
                edit::set_operand(*user, *place, signed)?;
                change_point(*user, *point, points)?;
            }
            Use::Moved => edit::set_operand(*user, *place, signed)?,
            // A value made elsewhere is still there.
            Use::Outside if ir::id(signed) != ir::id(value) => {}
            Use::Outside => {
                let old = back.map_or_else(|| convert(&builder, signed, -128, unsigned), Ok)?;
                back = Some(old);
                edit::set_operand(*user, *place, old)?;
            }
        }
    }
    Ok(())
}

/// Replaces the zero point at a place by one that is less by 128, once for each.
fn change_point<'c>(op: Op<'c>, place: usize, points: &mut HashMap<ir::Id, Val<'c>>) -> Result<()> {
    let old = ir::operands(op)[place];
    let new = match points.get(&ir::id(old)) {
        Some(new) => *new,
        None => signed_constant(old)?,
    };
    points.insert(ir::id(old), new);
    edit::set_operand(op, place, new)?;
    Ok(())
}

/// The place behind a value.
fn after<'c>(value: Val<'c>) -> Result<Builder<'c>> {
    let next = match (edit::defining_op(value), edit::owner_block(value)) {
        (Some(op), _) => op.next_in_block(),
        (None, Some((block, _))) => block.first_operation(),
        _ => None,
    };
    let next = next.ok_or_else(|| Error::internal("a value with no operation behind it"))?;
    Builder::before(next)
}

/// Converts a value to another element type and zero point; `zero` is the one it has. It is
/// dequantized with the scale 1, and quantized again with 0, or with the least number.
fn convert<'c>(b: &Builder<'c>, value: Val<'c>, zero: i64, ty: Type<'c>) -> Result<Val<'c>> {
    let point = |element| -> Result<Val<'c>> {
        let zero = if element == ir::element_type(value.r#type()) { zero as u8 } else { 0 };
        bytes(b, b.tensor(&[], element), &[zero])
    };
    let one: Attribute<'c> = FloatAttribute::new(b.context, b.f32(), 1.0).into();
    let scalar = b.tensor(&[], b.f32());
    let dense = melior::ir::attribute::DenseElementsAttribute::new(scalar, &[one]).map_err(ir::unexpected)?;
    let one = b.op1_with(graph::Constant::NAME, &[], scalar, vec![("value", dense.into())])?;
    let (from, to) = (point(ir::element_type(value.r#type()))?, point(ir::element_type(ty))?);
    let real = b.op1(DEQUANTIZE, &[value, one, from], with_element(ty, b.f32()))?;
    b.op1(QUANTIZE, &[real, one, to], ty)
}
