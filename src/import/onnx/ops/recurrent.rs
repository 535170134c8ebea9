//! Recurrent layers: one product for the inputs of all steps, and a loop over time for the rest.

mod cell;
mod weights;

use std::ops::Range;

use crate::ir::{DYNAMIC, Val};
use crate::tensor::DType;

use super::super::body::{LoopBody, LoopStart, StepEnd, Way};
use super::super::context::{Extent, NodeContext};
use super::super::emit::OpResult;
use super::OpEntry;
use super::activations::Activation;
use cell::{Cell, State, gru_step, lstm_step, rnn_step};
use weights::{INPUT, RECURRENCE, Weights, part};

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("GRU", 1, 3..=8, |node| layer(node, &GRU)),
    OpEntry::with("LSTM", 1, 3..=8, |node| layer(node, &LSTM)),
    OpEntry::with("RNN", 1, 3..=8, |node| layer(node, &RNN)),
];

/// A kind of recurrent layer.
struct Kind {
    /// Number of matrices next to each other in the weights.
    gates: i64,
    /// Activations if the node names none.
    activations: &'static [&'static str],
    /// Position of the initial cell state among the inputs, if there is one.
    cell: Option<usize>,
    /// True for weights of 8-bit integers.
    quantized: bool,
    step: for<'a, 'b, 'c> fn(&'a Cell<'a, 'b, 'c>, Val<'c>, &State<'c>) -> OpResult<State<'c>>,
}

const RNN: Kind =
    Kind { gates: 1, activations: &["Tanh"], cell: None, quantized: false, step: rnn_step };
const GRU: Kind = Kind {
    gates: 3,
    activations: &["Sigmoid", "Tanh"],
    cell: None,
    quantized: false,
    step: gru_step,
};
const LSTM: Kind = Kind {
    gates: 4,
    activations: &["Sigmoid", "Tanh", "Tanh"],
    cell: Some(6),
    quantized: false,
    step: lstm_step,
};
const DYNAMIC_LSTM: Kind = Kind { quantized: true, ..LSTM };

/// `DynamicQuantizeLSTM` of onnxruntime: an LSTM whose weights are stored as integers of 8 bits,
/// and which rounds the inputs and the states of each step to 8 bits.
pub(super) fn dynamic_lstm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    layer(node, &DYNAMIC_LSTM)
}

/// A whole layer: all directions over all steps.
fn layer<'c>(node: &NodeContext<'_, 'c>, kind: &Kind) -> OpResult<Vec<Val<'c>>> {
    // Old operator sets asked here for the full output, which is now an output like others.
    node.attributes.ignore("output_sequence");
    let batch_first = node.attributes.bool_or("layout", false)?;
    let mut x = node.input(0, "X")?;
    if batch_first {
        x = node.transpose(x, &[1, 0, 2])?;
    }
    if node.rank(x) != 3 {
        return Err("X must have rank 3".into());
    }
    let (steps, batch) = (node.extent(x, 0)?, node.extent(x, 1)?);
    let reversed: &[bool] =
        match node.attributes.choice("direction", &["forward", "reverse", "bidirectional"])? {
            "forward" => &[false],
            "reverse" => &[true],
            _ => &[false, true],
        };
    let size = Weights::hidden_size(node, kind.quantized)?;
    if node.attributes.int("hidden_size")?.is_some_and(|declared| declared != size) {
        return Err(format!("hidden_size is not {size}, the size of R").into());
    }
    let activations = Activation::read(node, kind.activations, reversed.len())?;
    let (mut sequences, mut ends) = (Vec::new(), Vec::new());
    for (direction, reversed) in reversed.iter().enumerate() {
        let own = activations[direction].clone();
        let cell = cell(node, kind, direction as i64, size, own)?;
        let shape = [batch, Extent::Known(size)];
        let state = initial_state(node, kind, direction as i64, shape, batch_first)?;
        if steps.known() == Some(0) {
            let shape = node.extents(&[steps, batch, Extent::Known(size)])?;
            sequences.push(node.op("expand", &[node.scalar_like(x, 0.0)?, shape], &[])?);
            ends.push(state);
            continue;
        }
        let projected = project(node, kind, direction as i64, x, size)?;
        let (outputs, end) = match steps.known().filter(|steps| *steps <= node.unroll_loops) {
            Some(steps) => unroll(&cell, kind, projected, state, (steps, *reversed))?,
            None => looped(&cell, kind, projected, state, (steps, *reversed))?,
        };
        sequences.push(outputs);
        ends.push(end);
    }
    collect(node, &sequences, &ends, batch_first)
}

fn cell<'a, 'b, 'c>(
    node: &'a NodeContext<'b, 'c>,
    kind: &Kind,
    direction: i64,
    size: i64,
    activations: Vec<Activation>,
) -> OpResult<Cell<'a, 'b, 'c>> {
    let lengths = node.optional(4).map(|lengths| -> OpResult<Val<'c>> {
        node.unsqueeze(node.cast(lengths, DType::I64)?, &[1])
    });
    let matrix = |gates: Range<i64>| -> OpResult<(Weights<'c>, Option<Val<'c>>)> {
        let rows = gates.start * size..gates.end * size;
        let bias = node.optional(3).map(|bias| -> OpResult<Val<'c>> {
            let (both, own) = (part(node, bias, direction)?, kind.gates * size);
            node.slice(both, 0, own + rows.start, own + rows.end)
        });
        let weights = Weights::of(node, (RECURRENCE, kind.quantized), direction, rows)?;
        Ok((weights, bias.transpose()?))
    };
    // The last gate of a GRU is multiplied with a hidden state of its own, unless it is reset after
    // the product.
    let reset_last = node.attributes.int_or("linear_before_reset", 0)? != 0;
    let apart = kind.gates == GRU.gates && !reset_last;
    let together = if apart { kind.gates - 1 } else { kind.gates };
    let (recurrence, recurrence_bias) = matrix(0..together)?;
    let candidate = if apart { Some(matrix(together..kind.gates)?) } else { None };
    let peepholes = node.optional(7).map(|weights| part(node, weights, direction));
    Ok(Cell {
        node,
        size,
        activations,
        clip: node.attributes.float("clip")?.map(f64::from).filter(|clip| *clip > 0.0),
        recurrence,
        recurrence_bias,
        candidate,
        peepholes: peepholes.transpose()?,
        input_forget: node.attributes.int_or("input_forget", 0)? != 0,
        lengths: lengths.transpose()?,
    })
}

/// The state before the first step; zeros if none is given.
fn initial_state<'c>(
    node: &NodeContext<'_, 'c>,
    kind: &Kind,
    direction: i64,
    shape: [Extent<'c>; 2],
    batch_first: bool,
) -> OpResult<State<'c>> {
    let read = |index: usize| -> OpResult<Val<'c>> {
        match node.optional(index) {
            Some(value) if batch_first => part(node, node.transpose(value, &[1, 0, 2])?, direction),
            Some(value) => part(node, value, direction),
            None => {
                let zero = node.scalar_like(node.input(0, "X")?, 0.0)?;
                node.op("expand", &[zero, node.extents(&shape)?], &[])
            }
        }
    };
    Ok(State { hidden: read(5)?, cell: kind.cell.map(read).transpose()? })
}

/// Contribution of the inputs of all steps to the gates: `[steps, batch, gates * hidden]`.
fn project<'c>(
    node: &NodeContext<'_, 'c>,
    kind: &Kind,
    direction: i64,
    x: Val<'c>,
    size: i64,
) -> OpResult<Val<'c>> {
    let rows = 0..kind.gates * size;
    let weights = Weights::of(node, (INPUT, kind.quantized), direction, rows)?;
    let product = weights.times(node, x)?;
    let Some(bias) = node.optional(3) else { return Ok(product) };
    let both = part(node, bias, direction)?;
    node.binary("add", product, node.slice(both, 0, 0, kind.gates * size)?)
}

/// The steps one after the other. Gives the outputs in the order of time, `[steps, batch, hidden]`,
/// and the last state. Steps beyond the length of a sequence give zeros and leave its state alone.
fn unroll<'c>(
    cell: &Cell<'_, '_, 'c>,
    kind: &Kind,
    x: Val<'c>,
    mut state: State<'c>,
    (steps, reversed): (i64, bool),
) -> OpResult<(Val<'c>, State<'c>)> {
    let node = cell.node;
    let mut outputs = Vec::new();
    for step in 0..steps {
        let time = if reversed { steps - 1 - step } else { step };
        let now = node.squeeze(node.slice(x, 0, time, time + 1)?, &[0])?;
        let next = (kind.step)(cell, now, &state)?;
        let (output, next) = cell.end_short(node.scalar(DType::I64, time as f64)?, next, &state)?;
        outputs.push(node.unsqueeze(output, &[0])?);
        state = next;
    }
    if reversed {
        outputs.reverse();
    }
    Ok((node.concat(&outputs, 0)?, state))
}

/// The same as a loop. Where sequences have lengths, it counts the time in a state of its own.
fn looped<'c>(
    cell: &Cell<'_, '_, 'c>,
    kind: &Kind,
    x: Val<'c>,
    state: State<'c>,
    (steps, reversed): (Extent<'c>, bool),
) -> OpResult<(Val<'c>, State<'c>)> {
    let outer = cell.node.emitter;
    let by = if reversed { -1.0 } else { 1.0 };
    let clock = match (cell.lengths, reversed) {
        (None, _) => None,
        (_, false) => Some(cell.node.scalar(DType::I64, 0.0)?),
        (_, true) => Some(match steps.known() {
            Some(steps) => cell.node.scalar(DType::I64, (steps - 1) as f64)?,
            None => cell.node.binary_with("sub", cell.node.extent_scalar(steps)?, 1.0)?,
        }),
    };
    let steps = steps.known().unwrap_or(DYNAMIC);
    let states: Vec<_> = std::iter::once(state.hidden).chain(state.cell).chain(clock).collect();
    let way = Way { axis: 0, reversed };
    let start =
        LoopStart { steps, limit: None, states, sequences: vec![(x, way)], changing: vec![] };
    let (body, inner) = LoopBody::new(outer, start);
    let node = cell.node.inside(&inner);
    let inside = cell.inside(&node);
    let mut arguments = body.arguments.iter().copied();
    let mut next_argument = || arguments.next().ok_or("a loop with too few arguments");
    let old =
        State { hidden: next_argument()?, cell: state.cell.map(|_| next_argument()).transpose()? };
    let time = clock.map(|_| next_argument()).transpose()?;
    let next = (kind.step)(&inside, next_argument()?, &old)?;
    let (output, next) = match time {
        Some(time) => inside.end_short(time, next, &old)?,
        None => (next.hidden, next),
    };
    let ticked = time.map(|time| node.binary_with("add", time, by)).transpose()?;
    let states = std::iter::once(next.hidden).chain(next.cell).chain(ticked).collect();
    let end = StepEnd { states, slices: vec![(output, way)] };
    let results = body.finish(outer, &inner, &end)?;
    let collected = results.last().copied().ok_or("a loop without results")?;
    Ok((collected, State { hidden: results[0], cell: state.cell.map(|_| results[1]) }))
}

/// The outputs of the node: the sequence of all directions, and the last states.
fn collect<'c>(
    node: &NodeContext<'_, 'c>,
    sequences: &[Val<'c>],
    ends: &[State<'c>],
    batch_first: bool,
) -> OpResult<Vec<Val<'c>>> {
    let stack = |values: Vec<Val<'c>>, axis: i64| -> OpResult<Val<'c>> {
        let slices = values.into_iter().map(|value| node.unsqueeze(value, &[axis]));
        node.concat(&slices.collect::<OpResult<Vec<_>>>()?, axis)
    };
    let mut y = stack(sequences.to_vec(), 1)?;
    let mut states = vec![stack(ends.iter().map(|end| end.hidden).collect(), 0)?];
    let cells: Option<Vec<_>> = ends.iter().map(|end| end.cell).collect();
    if let Some(cells) = cells {
        states.push(stack(cells, 0)?);
    }
    if batch_first {
        y = node.transpose(y, &[2, 0, 1, 3])?;
        for state in &mut states {
            *state = node.transpose(*state, &[1, 0, 2])?;
        }
    }
    Ok(std::iter::once(y).chain(states).collect())
}
