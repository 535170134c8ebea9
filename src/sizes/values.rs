//! Small tensors of integers whose elements are sizes: shapes, positions and what is computed of them.

use super::{Bounding, Dim, mask::integers};
use crate::{
    Result,
    ir::{self, Builder, Op, Val, constant::Elements, graph, op_name, view::OpView},
    lower::normalize_axis,
};
use melior::ir::ValueLike;
use phaseline_base::size::Size;

/// Elements that are followed, at most.
const MOST: usize = 256;

/// The elements of a tensor, row by row.
pub(super) type Content = Vec<Size>;

impl<'c> Bounding<'c> {
    /// The elements of a value, if they are followed.
    pub(super) fn content(&self, value: Val<'c>) -> Option<Content> {
        self.infos.get(&ir::id(value)).and_then(|info| info.content.clone())
    }

    /// The elements of an operand as numbers, if they are known.
    pub(super) fn numbers(&self, value: Val<'c>) -> Option<Vec<i64>> {
        match self.content(value) {
            Some(content) => content.iter().map(Size::known).collect(),
            None => Elements::of_value(value).map(|elements| elements.ints()),
        }
    }

    /// Records what a constant holds.
    pub(super) fn constant(&mut self, op: Op<'c>) -> Result<()> {
        let value = ir::result0(op)?;
        let dims = ir::dims(value.r#type());
        let mut info = self.info(value);
        let count: i64 = dims.iter().product();
        let is_followed = is_integer(value) && usize::try_from(count).is_ok_and(|it| it <= MOST);
        if is_followed && let Some(elements) = Elements::of_value(value) {
            info.content = Some(elements.ints().into_iter().map(Size::from).collect());
        }
        self.infos.insert(ir::id(value), info);
        Ok(())
    }

    /// The elements of an operation's result, if they follow from those of its operands.
    pub(super) fn evaluate(&self, op: Op<'c>) -> Option<(Vec<i64>, Content)> {
        let operands = ir::operands(op);
        let first = || operands.first().and_then(|value| self.content(*value));
        let shape_of = |value: Val<'c>| -> Option<Vec<i64>> {
            self.dims(value).iter().map(Dim::as_known).collect()
        };
        let list = |content: Content| (vec![content.len() as i64], content);
        let result = ir::results(op).first().copied()?;
        let evaluated = match op_name(op) {
            graph::Shape::NAME => {
                let dims = self.dims(operands[0]);
                let place = |at: i64| normalize_axis(at, dims.len());
                let from = place(ir::attr_i64(op, "start").unwrap_or(0));
                let to = ir::attr_i64(op, "end").map_or(dims.len(), place);
                list(dims.get(from..to.max(from))?.iter().map(Dim::size).collect())
            }
            graph::Size::NAME => {
                let sizes = self.dims(operands[0]);
                (vec![], vec![sizes.iter().fold(1.into(), |all: Size, dim| all.times(&dim.size()))])
            }
            _ if !is_integer(result) => return None,
            // True is what is not zero.
            graph::Cast::NAME
                if ir::integer_width(ir::element_type(result.r#type())) == Some(1) =>
            {
                let truth = |size: Size| {
                    let (least, most) = size.bounds(&self.symbols);
                    match (least, most) {
                        (0, 0) => Some(0.into()),
                        _ if least > 0 || most < 0 => Some(1.into()),
                        _ => None,
                    }
                };
                (shape_of(operands[0])?, first()?.into_iter().map(truth).collect::<Option<_>>()?)
            }
            graph::Cast::NAME | graph::Identity::NAME => (shape_of(operands[0])?, first()?),
            graph::Squeeze::NAME
            | graph::Unsqueeze::NAME
            | graph::Reshape::NAME
            | graph::Flatten::NAME => {
                let content = first()?;
                let shape = match ir::static_dims(result.r#type()) {
                    Some(shape) => shape,
                    None if op_name(op) == graph::Reshape::NAME => {
                        let target = self.numbers(operands[1])?;
                        let [-1] = target[..] else { return None };
                        vec![content.len() as i64]
                    }
                    None => return None,
                };
                (shape, content)
            }
            graph::Concat::NAME => {
                let mut all = vec![];
                for operand in &operands {
                    if shape_of(*operand)?.len() != 1 {
                        return None;
                    }
                    all.extend(self.content(*operand)?);
                }
                list(all)
            }
            graph::Gather::NAME => {
                let content = first()?;
                if shape_of(operands[0])?.len() != 1 {
                    return None;
                }
                let places = self.numbers(operands[1])?;
                let length = content.len() as i64;
                let element = |at: i64| {
                    let at = if at < 0 { at + length } else { at };
                    content.get(usize::try_from(at).ok()?).cloned()
                };
                (shape_of(operands[1])?, places.into_iter().map(element).collect::<Option<_>>()?)
            }
            graph::Slice::NAME => list(self.slice_of(graph::Slice::of(op)?)?),
            graph::ReduceProd::NAME | graph::ReduceSum::NAME => {
                let content = first()?;
                let product = op_name(op) == graph::ReduceProd::NAME;
                if shape_of(operands[0])?.len() != 1 {
                    return None;
                }
                let folded = match product {
                    true => content.iter().fold(1.into(), |all: Size, it| all.times(it)),
                    false => content.iter().fold(0.into(), |all: Size, it| all.plus(it)),
                };
                (ir::static_dims(result.r#type())?, vec![folded])
            }
            graph::ConstantOfShape::NAME => {
                let shape = self.numbers(operands[0])?;
                let count = usize::try_from(shape.iter().product::<i64>()).ok()?;
                let value = Elements::new(graph::ConstantOfShape::of(op)?.value())?.int(0);
                (count <= MOST).then(|| (shape, vec![value.into(); count]))?
            }
            graph::Not::NAME | graph::Neg::NAME => {
                let from = Size::from(i64::from(op_name(op) == graph::Not::NAME));
                let turned = first()?.iter().map(|size| from.minus(size)).collect();
                (shape_of(operands[0])?, turned)
            }
            graph::Where::NAME => {
                let [condition, a, b] = operands[..] else { return None };
                let (shape, [condition, a, b]) = self.aligned([condition, a, b])?;
                let chosen = condition.into_iter().zip(a.into_iter().zip(b));
                let chosen = chosen.map(|(condition, (a, b))| match condition.known()? {
                    0 => Some(b),
                    _ => Some(a),
                });
                (shape, chosen.collect::<Option<_>>()?)
            }
            name => {
                let [a, b] = operands[..] else { return None };
                let (shape, [a, b]) = self.aligned([a, b])?;
                let pairs = a.into_iter().zip(b);
                let computed = pairs.map(|(a, b)| self.compute(name, &a, &b));
                (shape, computed.collect::<Option<_>>()?)
            }
        };
        (evaluated.1.len() <= MOST).then_some(evaluated)
    }

    /// An arithmetic operation, or a comparison that ranges decide.
    fn compute(&self, name: &str, a: &Size, b: &Size) -> Option<Size> {
        let (least, most) = a.minus(b).bounds(&self.symbols);
        let decided = |yes: bool, no: bool| match (yes, no) {
            (true, _) => Some(1.into()),
            (_, true) => Some(0.into()),
            _ => None,
        };
        Some(match name {
            graph::Add::NAME => a.plus(b),
            graph::Sub::NAME => a.minus(b),
            graph::Mul::NAME => a.times(b),
            graph::Div::NAME => match (b.known(), a.divided(b)) {
                (_, Some(quotient)) => quotient,
                // Division truncates: it is the floor of what is not below zero.
                (Some(divisor), _) if divisor > 0 && a.bounds(&self.symbols).0 >= 0 => {
                    a.over(divisor)
                }
                _ => return None,
            },
            graph::Mod::NAME if a.divided(b).is_some() => 0.into(),
            graph::Mod::NAME => {
                let divisor = b.known().filter(|divisor| *divisor > 0)?;
                let whole = a.over(divisor).times(b);
                (a.bounds(&self.symbols).0 >= 0).then(|| a.minus(&whole))?
            }
            graph::Min::NAME => a.or_less(b, &self.symbols),
            graph::Max::NAME => a.or_more(b, &self.symbols),
            graph::Equal::NAME => decided(a == b, least > 0 || most < 0)?,
            graph::Greater::NAME => decided(least > 0, most <= 0)?,
            graph::GreaterOrEqual::NAME => decided(least >= 0, most < 0)?,
            graph::Less::NAME => decided(most < 0, least >= 0)?,
            graph::LessOrEqual::NAME => decided(most <= 0, least > 0)?,
            graph::And::NAME => a.times(b),
            graph::Or::NAME => a.or_more(b, &self.symbols),
            graph::Xor::NAME => decided(a.known()? != b.known()?, a.known()? == b.known()?)?,
            _ => return None,
        })
    }

    /// The elements of small operands that broadcast: of lists and scalars.
    fn aligned<const N: usize>(&self, operands: [Val<'c>; N]) -> Option<(Vec<i64>, [Content; N])> {
        let mut shape: Vec<i64> = vec![];
        let mut all = vec![];
        for operand in operands {
            let own: Vec<_> =
                self.dims(operand).iter().map(Dim::as_known).collect::<Option<_>>()?;
            let content = self.content(operand)?;
            if own.iter().product::<i64>() > shape.iter().product::<i64>()
                || own.len() > shape.len()
            {
                shape = own;
            }
            all.push(content);
        }
        let count = usize::try_from(shape.iter().product::<i64>()).ok()?;
        for content in &mut all {
            match content.len() {
                len if len == count => {}
                1 => *content = vec![content[0].clone(); count],
                _ => return None,
            }
        }
        Some((shape, all.try_into().ok()?))
    }

    /// A slice of a list.
    fn slice_of(&self, op: graph::Slice<'c>) -> Option<Content> {
        let content = self.content(op.x())?;
        let one = |value: Val<'c>| self.numbers(value)?.first().copied();
        if self.dims(op.x()).len() != 1 {
            return None;
        }
        let length = content.len() as i64;
        let step = op.steps().map_or(Some(1), one)?;
        let wrapped = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
        let (from, to) = (wrapped(one(op.starts())?), wrapped(one(op.ends())?));
        let (mut at, mut all) = (if step > 0 { from.max(0) } else { from.min(length - 1) }, vec![]);
        let inside = |at: i64| match step > 0 {
            true => at < to.min(length),
            false => at > to.max(-1),
        };
        while step != 0 && inside(at) {
            all.push(content.get(usize::try_from(at).ok()?)?.clone());
            at += step;
        }
        Some(all)
    }

    /// An operand as a tensor that a run computes, where its elements are sizes.
    pub(super) fn materialized(&mut self, b: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
        let Some(content) = self.content(value) else { return Ok(value) };
        if ir::edit::defining_op(value).is_some_and(graph::Constant::is) {
            return Ok(value);
        }
        let info = self.info(value);
        let shape: Vec<_> = info.dims.iter().map(|dim| self.room(dim)).collect();
        let made = match content.iter().map(Size::known).collect::<Option<Vec<_>>>() {
            Some(known) => integers(b, &shape, &known)?,
            None => {
                let mut parts = vec![];
                for size in &content {
                    let scalar = self.value_of(size)?;
                    parts.push(match shape.is_empty() {
                        true => scalar,
                        false => graph::Unsqueeze::build(b, scalar, &[0])?.y(),
                    });
                }
                let list = match parts[..] {
                    [single] => single,
                    _ => graph::Concat::build(b, &parts, 0)?.y(),
                };
                match shape.len() {
                    0 | 1 => list,
                    _ => {
                        let shape = integers(b, &[shape.len() as i64], &shape)?;
                        let attributes = graph::ReshapeAttrs::default();
                        graph::Reshape::build(b, list, shape, attributes)?.y()
                    }
                }
            }
        };
        let element = ir::element_type(value.r#type());
        let made = match ir::element_type(made.r#type()) == element {
            true => made,
            false => graph::Cast::build(b, made, element, graph::CastAttrs::default())?.y(),
        };
        self.infos.insert(ir::id(made), info);
        Ok(made)
    }
}

/// Integers and truth values.
fn is_integer(value: Val<'_>) -> bool {
    ir::integer_width(ir::element_type(value.r#type())).is_some()
}
