//! Operators that work element by element.

use super::{Entry, op};
use crate::{
    import::tflite::{
        node::{Node, Outcome},
        schema::{AddOptions, DivOptions, GeluOptions, LeakyReluOptions, MulOptions, SubOptions},
        value::Layout,
    },
    ir::{self, Builder, Val, graph},
};
use melior::ir::ValueLike;

type Unary<'c> = Outcome<Val<'c>>;

macro_rules! unary {
    ($($view:ident),*) => {
        $(#[allow(non_snake_case, reason = "called after the operation")]
        fn $view(node: &mut Node<'_, '_>) -> Outcome<()> {
            one(node, |node, x| node.done(graph::$view::build(&node.builder, x)).map(|op| op.y()))
        })*
    };
}
unary!(
    Abs, Ceil, Cos, Exp, Floor, HardSwish, Log, Neg, Not, Relu, Round, Sigmoid, Sign, Sin, Sqrt,
    Tanh
);

macro_rules! binary {
    ($($view:ident),*) => {
        $(#[allow(non_snake_case, reason = "called after the operation")]
        fn $view(node: &mut Node<'_, '_>) -> Outcome<()> {
            two(node, 0, |b, x, y| Ok(graph::$view::build(b, x, y)?.y()))
        })*
    };
}
binary!(And, Atan2, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Max, Min, Or, Pow, Prelu);

pub(super) const OPS: &[Entry] = &[
    op(0, "ADD", 2..=2, add),
    op(8, "FLOOR", 1..=1, Floor),
    op(14, "LOGISTIC", 1..=1, Sigmoid),
    op(18, "MUL", 2..=2, mul),
    op(19, "RELU", 1..=1, Relu),
    op(20, "RELU_N1_TO_1", 1..=1, relu_n1_to_1),
    op(21, "RELU6", 1..=1, relu6),
    op(28, "TANH", 1..=1, Tanh),
    op(41, "SUB", 2..=2, sub),
    op(42, "DIV", 2..=2, div),
    op(47, "EXP", 1..=1, Exp),
    op(54, "PRELU", 2..=2, Prelu),
    op(55, "MAXIMUM", 2..=2, Max),
    op(57, "MINIMUM", 2..=2, Min),
    op(58, "LESS", 2..=2, Less),
    op(59, "NEG", 1..=1, Neg),
    op(61, "GREATER", 2..=2, Greater),
    op(62, "GREATER_EQUAL", 2..=2, GreaterOrEqual),
    op(63, "LESS_EQUAL", 2..=2, LessOrEqual),
    op(66, "SIN", 1..=1, Sin),
    op(71, "EQUAL", 2..=2, Equal),
    op(72, "NOT_EQUAL", 2..=2, not_equal),
    op(73, "LOG", 1..=1, Log),
    op(75, "SQRT", 1..=1, Sqrt),
    op(76, "RSQRT", 1..=1, rsqrt),
    op(78, "POW", 2..=2, Pow),
    op(84, "LOGICAL_OR", 2..=2, Or),
    op(86, "LOGICAL_AND", 2..=2, And),
    op(87, "LOGICAL_NOT", 1..=1, Not),
    op(90, "FLOOR_DIV", 2..=2, floor_div),
    op(92, "SQUARE", 1..=1, square),
    op(95, "FLOOR_MOD", 2..=2, floor_mod),
    op(98, "LEAKY_RELU", 1..=1, leaky_relu),
    op(99, "SQUARED_DIFFERENCE", 2..=2, squared_difference),
    op(101, "ABS", 1..=1, Abs),
    op(104, "CEIL", 1..=1, Ceil),
    op(106, "ADD_N", 1..=65_536, add_n),
    op(108, "COS", 1..=1, Cos),
    op(111, "ELU", 1..=1, elu),
    op(116, "ROUND", 1..=1, Round),
    op(117, "HARD_SWISH", 1..=1, HardSwish),
    op(150, "GELU", 1..=1, gelu),
    op(152, "RELU_0_TO_1", 1..=1, relu_0_to_1),
    op(156, "ATAN2", 2..=2, Atan2),
    op(158, "SIGN", 1..=1, Sign),
];

/// One operand, in the layout that it has.
fn one<'c>(
    node: &mut Node<'_, 'c>,
    build: impl FnOnce(&Node<'_, 'c>, Val<'c>) -> Unary<'c>,
) -> Outcome<()> {
    let layout = node.layout(&[0]);
    let x = node.real(0, layout)?;
    let y = build(node, x)?;
    node.set(0, y, layout)
}

/// Two operands with broadcasting, and an activation.
fn two<'c>(
    node: &mut Node<'_, 'c>,
    activation: i8,
    build: impl FnOnce(&Builder<'c>, Val<'c>, Val<'c>) -> crate::Result<Val<'c>>,
) -> Outcome<()> {
    let layout = node.layout(&[0, 1]);
    let [x, y] = [aligned(node, 0, layout)?, aligned(node, 1, layout)?];
    let made = build(&node.builder, x, y).map_err(|error| node.said(&error.to_string()))?;
    let made = activated(node, made, activation)?;
    node.set(0, made, layout)
}

/// An operand of an operator with broadcasting: one of fewer dimensions than the result lacks the
/// first ones, so that with its channels first it needs all of them.
pub(super) fn aligned<'c>(node: &mut Node<'_, 'c>, index: usize, layout: Layout) -> Unary<'c> {
    let rank = node.output(0)?.dims.len();
    let own = node.tensor(index)?.dims.len();
    if layout == Layout::Last || own == 0 || own == rank {
        return node.real(index, layout);
    }
    let value = node.real(index, Layout::Last)?;
    let mut dims = vec![1; rank.saturating_sub(own)];
    dims.extend(ir::dims(value.r#type()));
    let full = node.reshaped(value, &dims)?;
    node.transposed(full, &layout.order(rank))
}

/// A value behind the activation that the options of an operator name.
pub(super) fn activated<'c>(node: &Node<'_, 'c>, x: Val<'c>, activation: i8) -> Unary<'c> {
    match activation {
        0 => Ok(x),
        1 => node.done(graph::Relu::build(&node.builder, x)).map(|op| op.y()),
        2 => clipped(node, x, -1.0, 1.0),
        3 => clipped(node, x, 0.0, 6.0),
        4 => node.done(graph::Tanh::build(&node.builder, x)).map(|op| op.y()),
        other => Err(format!("the fused activation {other} is not supported")),
    }
}

fn clipped<'c>(node: &Node<'_, 'c>, x: Val<'c>, least: f32, most: f32) -> Unary<'c> {
    let (least, most) = (node.number_constant(least)?, node.number_constant(most)?);
    node.done(graph::Clip::build(&node.builder, x, Some(least), Some(most))).map(|op| op.y())
}

fn add(node: &mut Node<'_, '_>) -> Outcome<()> {
    let activation = node.table.options::<AddOptions<'_>>().map_or(0, AddOptions::activation);
    two(node, activation, |b, x, y| Ok(graph::Add::build(b, x, y)?.y()))
}

fn sub(node: &mut Node<'_, '_>) -> Outcome<()> {
    let activation = node.table.options::<SubOptions<'_>>().map_or(0, SubOptions::activation);
    two(node, activation, |b, x, y| Ok(graph::Sub::build(b, x, y)?.y()))
}

fn mul(node: &mut Node<'_, '_>) -> Outcome<()> {
    let activation = node.table.options::<MulOptions<'_>>().map_or(0, MulOptions::activation);
    two(node, activation, |b, x, y| Ok(graph::Mul::build(b, x, y)?.y()))
}

fn div(node: &mut Node<'_, '_>) -> Outcome<()> {
    let activation = node.table.options::<DivOptions<'_>>().map_or(0, DivOptions::activation);
    two(node, activation, |b, x, y| Ok(graph::Div::build(b, x, y)?.y()))
}

fn relu6(node: &mut Node<'_, '_>) -> Outcome<()> {
    one(node, |node, x| clipped(node, x, 0.0, 6.0))
}

fn relu_n1_to_1(node: &mut Node<'_, '_>) -> Outcome<()> {
    one(node, |node, x| clipped(node, x, -1.0, 1.0))
}

fn relu_0_to_1(node: &mut Node<'_, '_>) -> Outcome<()> {
    one(node, |node, x| clipped(node, x, 0.0, 1.0))
}

fn leaky_relu(node: &mut Node<'_, '_>) -> Outcome<()> {
    let alpha = node.options::<LeakyReluOptions<'_>>()?.alpha();
    one(node, |node, x| {
        let attributes = graph::LeakyReluAttrs { alpha: f64::from(alpha) };
        node.done(graph::LeakyRelu::build(&node.builder, x, attributes)).map(|op| op.y())
    })
}

fn elu(node: &mut Node<'_, '_>) -> Outcome<()> {
    one(node, |node, x| {
        node.done(graph::Elu::build(&node.builder, x, graph::EluAttrs::default())).map(|op| op.y())
    })
}

fn gelu(node: &mut Node<'_, '_>) -> Outcome<()> {
    let approximate = node.table.options::<GeluOptions<'_>>().is_some_and(GeluOptions::approximate);
    one(node, |node, x| {
        let approximate = if approximate { "tanh" } else { "none" }.to_owned();
        let attributes = graph::GeluAttrs { approximate };
        node.done(graph::Gelu::build(&node.builder, x, attributes)).map(|op| op.y())
    })
}

fn rsqrt(node: &mut Node<'_, '_>) -> Outcome<()> {
    one(node, |node, x| {
        let root = node.done(graph::Sqrt::build(&node.builder, x))?.y();
        node.done(graph::Reciprocal::build(&node.builder, root)).map(|op| op.y())
    })
}

fn square(node: &mut Node<'_, '_>) -> Outcome<()> {
    one(node, |node, x| node.done(graph::Mul::build(&node.builder, x, x)).map(|op| op.y()))
}

fn squared_difference(node: &mut Node<'_, '_>) -> Outcome<()> {
    two(node, 0, |b, x, y| {
        let difference = graph::Sub::build(b, x, y)?.y();
        Ok(graph::Mul::build(b, difference, difference)?.y())
    })
}

fn not_equal(node: &mut Node<'_, '_>) -> Outcome<()> {
    two(node, 0, |b, x, y| {
        let equal = graph::Equal::build(b, x, y)?.y();
        Ok(graph::Not::build(b, equal)?.y())
    })
}

fn floor_div(node: &mut Node<'_, '_>) -> Outcome<()> {
    two(node, 0, |b, x, y| {
        if ir::is_float(ir::element_type(x.r#type())) {
            let quotient = graph::Div::build(b, x, y)?.y();
            return Ok(graph::Floor::build(b, quotient)?.y());
        }
        // Exact: what is left over by the remainder of the divisor's sign.
        let remainder = graph::Mod::build(b, x, y, graph::ModAttrs::default())?.y();
        let whole = graph::Sub::build(b, x, remainder)?.y();
        Ok(graph::Div::build(b, whole, y)?.y())
    })
}

fn floor_mod(node: &mut Node<'_, '_>) -> Outcome<()> {
    two(node, 0, |b, x, y| {
        if !ir::is_float(ir::element_type(x.r#type())) {
            return Ok(graph::Mod::build(b, x, y, graph::ModAttrs::default())?.y());
        }
        let quotient = graph::Div::build(b, x, y)?.y();
        let whole = graph::Floor::build(b, quotient)?.y();
        let product = graph::Mul::build(b, whole, y)?.y();
        Ok(graph::Sub::build(b, x, product)?.y())
    })
}

fn add_n(node: &mut Node<'_, '_>) -> Outcome<()> {
    let all: Vec<usize> = (0..node.operator.inputs.len()).collect();
    let layout = node.layout(&all);
    let mut sum = node.real(0, layout)?;
    for index in 1..all.len() {
        let next = node.real(index, layout)?;
        sum = node.done(graph::Add::build(&node.builder, sum, next))?.y();
    }
    node.set(0, sum, layout)
}
