//! Recurrent layers: what the inputs add is one product of all steps, the rest a loop over time.

mod cell;
mod quantized;

use std::ops::Range;

use crate::ir::Val;
use crate::tensor::{AlignedBuffer, DType, Tensor};

use super::super::body::{LoopBody, LoopStart, StepEnd, Way};
use super::super::context::NodeContext;
use super::super::emit::OpResult;
use super::OpEntry;
use super::activations::Activation;
pub(super) use quantized::dynamic_lstm;

use cell::{Cell, State, gru_step, lstm_step, rnn_step};

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
    step: for<'a, 'b, 'c> fn(&'a Cell<'a, 'b, 'c>, Val<'c>, &State<'c>) -> OpResult<State<'c>>,
}

const RNN: Kind = Kind { gates: 1, activations: &["Tanh"], cell: None, step: rnn_step };
const GRU: Kind = Kind { gates: 3, activations: &["Sigmoid", "Tanh"], cell: None, step: gru_step };
const LSTM: Kind =
    Kind { gates: 4, activations: &["Sigmoid", "Tanh", "Tanh"], cell: Some(6), step: lstm_step };

/// A whole layer: all directions over all steps.
fn layer<'c>(node: &NodeContext<'_, 'c>, kind: &Kind) -> OpResult<Vec<Val<'c>>> {
    // Old operator sets asked here for the full output, which is now an output like others.
    node.attributes.ignore("output_sequence");
    let batch_first = node.attributes.bool_or("layout", false)?;
    let mut x = node.input(0, "X")?;
    if batch_first {
        x = node.transpose(x, &[1, 0, 2])?;
    }
    let dims = node.static_dims(x, "X")?;
    let [steps, batch, _] = dims[..] else { return Err("X must have rank 3".into()) };
    if steps < 1 {
        return Err("X has no steps".into());
    }
    let reversed: &[bool] =
        match node.attributes.choice("direction", &["forward", "reverse", "bidirectional"])? {
            "forward" => &[false],
            "reverse" => &[true],
            _ => &[false, true],
        };
    let size = node.static_dim(node.input(2, "R")?, 2, "R")?;
    if node.attributes.int("hidden_size")?.is_some_and(|declared| declared != size) {
        return Err(format!("hidden_size is not {size}, the size of R").into());
    }
    let activations = Activation::read(node, kind.activations, reversed.len())?;
    let (mut sequences, mut ends) = (Vec::new(), Vec::new());
    for (direction, reversed) in reversed.iter().enumerate() {
        let own = activations[direction].clone();
        let cell = cell(node, kind, direction as i64, size, own)?;
        let state = initial_state(node, kind, direction as i64, [batch, size], batch_first)?;
        let projected = project(node, kind, direction as i64, x, size)?;
        let run = if steps <= node.unroll_loops { unroll } else { looped };
        let (outputs, end) = run(&cell, kind, projected, state, (steps, *reversed))?;
        sequences.push(outputs);
        ends.push(end);
    }
    collect(node, &sequences, &ends, batch_first)
}

/// The part of a weight input for one direction, without the dimension of directions.
fn part<'c>(node: &NodeContext<'_, 'c>, value: Val<'c>, direction: i64) -> OpResult<Val<'c>> {
    match known_part(node, value, direction)? {
        Some(tensor) => node.constant(&tensor),
        None => node.squeeze(node.slice(value, 0, direction, direction + 1)?, &[0]),
    }
}

/// The same of a constant, whose memory it shares.
fn known_part<'c>(
    node: &NodeContext<'_, 'c>,
    value: Val<'c>,
    direction: i64,
) -> OpResult<Option<Tensor>> {
    let Some(tensor) = node.emitter.known(value) else { return Ok(None) };
    let (dtype, shape) = (tensor.dtype(), tensor.shape());
    let Some((directions, rest)) = shape.split_first() else { return Ok(None) };
    let Some(direction) = usize::try_from(direction).ok().filter(|d| d < directions) else {
        return Err(format!("weights for {directions} directions are too few").into());
    };
    let bytes = rest.iter().product::<usize>() * dtype.size();
    let part = tensor.bytes().slice(direction * bytes..(direction + 1) * bytes);
    Ok(Some(Tensor::from_bytes(dtype, rest, part)?))
}

/// Some rows of the weights of one direction, `[gates * hidden, inputs]`, transposed. Constants are
/// transposed here, because products have kernels for constant matrices.
fn transposed_part<'c>(
    node: &NodeContext<'_, 'c>,
    value: Val<'c>,
    direction: i64,
    rows: Range<i64>,
) -> OpResult<Val<'c>> {
    let known = known_part(node, value, direction)?;
    let inside =
        |tensor: &Tensor| tensor.shape().len() == 2 && rows.end as u64 <= tensor.shape()[0] as u64;
    let Some(tensor) = known.filter(inside) else {
        let all = part(node, value, direction)?;
        return node.transpose(node.slice(all, 0, rows.start, rows.end)?, &[1, 0]);
    };
    let (count, columns) = ((rows.end - rows.start) as usize, tensor.shape()[1]);
    let size = tensor.dtype().size();
    let mut buffer = AlignedBuffer::zeroed(count * columns * size)?;
    let to = buffer.as_mut_slice();
    let first = rows.start as usize * columns;
    let elements = tensor.bytes().chunks_exact(size).skip(first).take(count * columns);
    for (index, element) in elements.enumerate() {
        let at = (index % columns * count + index / columns) * size;
        to[at..at + size].copy_from_slice(element);
    }
    node.constant(&Tensor::from_buffer(tensor.dtype(), &[columns, count], buffer)?)
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
    let matrix = |gates: Range<i64>| -> OpResult<(Val<'c>, Option<Val<'c>>)> {
        let rows = gates.start * size..gates.end * size;
        let bias = node.optional(3).map(|bias| -> OpResult<Val<'c>> {
            let (both, own) = (part(node, bias, direction)?, kind.gates * size);
            node.slice(both, 0, own + rows.start, own + rows.end)
        });
        let weights = transposed_part(node, node.input(2, "R")?, direction, rows)?;
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
    shape: [i64; 2],
    batch_first: bool,
) -> OpResult<State<'c>> {
    let read = |index: usize| -> OpResult<Val<'c>> {
        match node.optional(index) {
            Some(value) if batch_first => part(node, node.transpose(value, &[1, 0, 2])?, direction),
            Some(value) => part(node, value, direction),
            None => {
                let zero = node.scalar_like(node.input(0, "X")?, 0.0)?;
                node.op("expand", &[zero, node.i64s(&shape)?], &[])
            }
        }
    };
    Ok(State { hidden: read(5)?, cell: kind.cell.map(read).transpose()? })
}

/// What the inputs of all steps add to the gates: `[steps, batch, gates * hidden]`.
fn project<'c>(
    node: &NodeContext<'_, 'c>,
    kind: &Kind,
    direction: i64,
    x: Val<'c>,
    size: i64,
) -> OpResult<Val<'c>> {
    let rows = 0..kind.gates * size;
    let weights = transposed_part(node, node.input(1, "W")?, direction, rows)?;
    let product = node.binary("matmul", x, weights)?;
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
    (steps, reversed): (i64, bool),
) -> OpResult<(Val<'c>, State<'c>)> {
    let outer = cell.node.emitter;
    let (begin, by) = if reversed { (steps - 1, -1.0) } else { (0, 1.0) };
    let clock = match cell.lengths {
        Some(_) => Some(cell.node.scalar(DType::I64, begin as f64)?),
        None => None,
    };
    let states: Vec<_> = std::iter::once(state.hidden).chain(state.cell).chain(clock).collect();
    let way = Way { axis: 0, reversed };
    let start = LoopStart { steps, states, sequences: vec![(x, way)] };
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
