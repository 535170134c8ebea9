//! Recurrent layers, unrolled over time.

use crate::ir::Val;
use crate::tensor::DType;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;
use super::activations::Activation;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("GRU", |node| layer(node, &GRU)),
    OpEntry::with("LSTM", |node| layer(node, &LSTM)),
    OpEntry::with("RNN", |node| layer(node, &RNN)),
];

/// Longest sequence that is unrolled.
const MAX_STEPS: i64 = 1024;

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

/// What goes from one step to the next: both `[batch, hidden]`.
#[derive(Clone, Copy)]
struct State<'c> {
    hidden: Val<'c>,
    cell: Option<Val<'c>>,
}

/// One direction of a layer.
struct Cell<'a, 'b, 'c> {
    node: &'a NodeContext<'b, 'c>,
    size: i64,
    activations: Vec<Activation>,
    clip: Option<f64>,
    /// Recurrence weights, `[hidden, gates * hidden]`, and their bias, `[gates * hidden]`.
    recurrence: Val<'c>,
    recurrence_bias: Option<Val<'c>>,
    peepholes: Option<Val<'c>>,
    linear_before_reset: bool,
    input_forget: bool,
}

impl<'c> Cell<'_, '_, 'c> {
    /// Activation number `index` of clipped sums.
    fn activate(&self, index: usize, x: Val<'c>) -> OpResult<Val<'c>> {
        let x = match self.clip {
            None => x,
            Some(bound) => {
                let low = self.node.scalar_like(x, -bound)?;
                let high = self.node.scalar_like(x, bound)?;
                self.node.op_with_optionals("clip", &[Some(x), Some(low), Some(high)], &[])?
            }
        };
        self.activations[index].apply(self.node, x)
    }

    /// Columns of gate number `gate`.
    fn gate(&self, sums: Val<'c>, gate: i64) -> OpResult<Val<'c>> {
        let axis = self.node.rank(sums) - 1;
        self.node.slice(sums, axis, gate * self.size, (gate + 1) * self.size)
    }

    /// What the hidden state adds to all gates.
    fn recur(&self, hidden: Val<'c>) -> OpResult<Val<'c>> {
        let product = self.node.binary("matmul", hidden, self.recurrence)?;
        match self.recurrence_bias {
            None => Ok(product),
            Some(bias) => self.node.binary("add", product, bias),
        }
    }

    fn add(&self, a: Val<'c>, b: Val<'c>) -> OpResult<Val<'c>> {
        self.node.binary("add", a, b)
    }

    fn mul(&self, a: Val<'c>, b: Val<'c>) -> OpResult<Val<'c>> {
        self.node.binary("mul", a, b)
    }

    /// `1 - x`.
    fn complement(&self, x: Val<'c>) -> OpResult<Val<'c>> {
        let one = self.node.scalar_like(x, 1.0)?;
        self.node.binary("sub", one, x)
    }

    /// `x`, plus the cell state weighted with peephole number `index`.
    fn peep(&self, x: Val<'c>, index: i64, cell: Val<'c>) -> OpResult<Val<'c>> {
        match self.peepholes {
            None => Ok(x),
            Some(weights) => {
                let weighted = self.mul(self.gate(weights, index)?, cell)?;
                self.add(x, weighted)
            }
        }
    }
}

fn rnn_step<'c>(cell: &Cell<'_, '_, 'c>, x: Val<'c>, state: &State<'c>) -> OpResult<State<'c>> {
    let sums = cell.add(x, cell.recur(state.hidden)?)?;
    Ok(State { hidden: cell.activate(0, sums)?, cell: None })
}

/// Gates: update, reset, hidden.
fn gru_step<'c>(cell: &Cell<'_, '_, 'c>, x: Val<'c>, state: &State<'c>) -> OpResult<State<'c>> {
    let recurred = cell.recur(state.hidden)?;
    let sum = |gate: i64| cell.add(cell.gate(x, gate)?, cell.gate(recurred, gate)?);
    let update = cell.activate(0, sum(0)?)?;
    let reset = cell.activate(0, sum(1)?)?;
    let inner = if cell.linear_before_reset {
        cell.mul(reset, cell.gate(recurred, 2)?)?
    } else {
        let hidden = cell.mul(reset, state.hidden)?;
        cell.gate(cell.recur(hidden)?, 2)?
    };
    let candidate = cell.activate(1, cell.add(cell.gate(x, 2)?, inner)?)?;
    let fresh = cell.mul(cell.complement(update)?, candidate)?;
    let kept = cell.mul(update, state.hidden)?;
    Ok(State { hidden: cell.add(fresh, kept)?, cell: None })
}

/// Gates: input, output, forget, cell.
fn lstm_step<'c>(cell: &Cell<'_, '_, 'c>, x: Val<'c>, state: &State<'c>) -> OpResult<State<'c>> {
    let old = state.cell.ok_or("the cell state is missing")?;
    let sums = cell.add(x, cell.recur(state.hidden)?)?;
    let input = cell.activate(0, cell.peep(cell.gate(sums, 0)?, 0, old)?)?;
    let forget = if cell.input_forget {
        cell.complement(input)?
    } else {
        cell.activate(0, cell.peep(cell.gate(sums, 2)?, 2, old)?)?
    };
    let candidate = cell.activate(1, cell.gate(sums, 3)?)?;
    let new = cell.add(cell.mul(forget, old)?, cell.mul(input, candidate)?)?;
    let output = cell.activate(0, cell.peep(cell.gate(sums, 1)?, 1, new)?)?;
    // The last activation is not of a sum of products, and is not clipped.
    let shown = cell.activations[2].apply(cell.node, new)?;
    Ok(State { hidden: cell.mul(output, shown)?, cell: Some(new) })
}

/// A whole layer: all directions over all steps.
fn layer<'c>(node: &NodeContext<'_, 'c>, kind: &Kind) -> OpResult<Vec<Val<'c>>> {
    node.expect_inputs(3, 8)?;
    // Old operator sets asked here for the full output, which is now an output like others.
    node.attributes.ignore("output_sequence");
    let batch_first = node.attributes.bool_or("layout", false)?;
    let mut x = node.input(0, "X")?;
    if batch_first {
        x = node.transpose(x, &[1, 0, 2])?;
    }
    let dims = node.static_dims(x, "X")?;
    let [steps, batch, _] = dims[..] else { return Err("X must have rank 3".into()) };
    if !(1..=MAX_STEPS).contains(&steps) {
        let reason = format!("a sequence of {steps} steps, only 1 to {MAX_STEPS} are supported");
        return Err(OpError::Unsupported(reason));
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
        let (outputs, end) = unroll(&cell, kind, projected, state, steps, *reversed)?;
        sequences.push(node.concat(&outputs, 0)?);
        ends.push(end);
    }
    collect(node, &sequences, &ends, batch_first)
}

/// The part of a weight input for one direction, without the dimension of directions.
fn part<'c>(node: &NodeContext<'_, 'c>, value: Val<'c>, direction: i64) -> OpResult<Val<'c>> {
    node.squeeze(node.slice(value, 0, direction, direction + 1)?, &[0])
}

fn cell<'a, 'b, 'c>(
    node: &'a NodeContext<'b, 'c>,
    kind: &Kind,
    direction: i64,
    size: i64,
    activations: Vec<Activation>,
) -> OpResult<Cell<'a, 'b, 'c>> {
    let recurrence = part(node, node.input(2, "R")?, direction)?;
    let bias = node.optional(3).map(|bias| -> OpResult<Val<'c>> {
        let both = part(node, bias, direction)?;
        node.slice(both, 0, kind.gates * size, 2 * kind.gates * size)
    });
    let peepholes = node.optional(7).map(|weights| part(node, weights, direction));
    Ok(Cell {
        node,
        size,
        activations,
        clip: node.attributes.float("clip")?.map(f64::from).filter(|clip| *clip > 0.0),
        recurrence: node.transpose(recurrence, &[1, 0])?,
        recurrence_bias: bias.transpose()?,
        peepholes: peepholes.transpose()?,
        linear_before_reset: node.attributes.int_or("linear_before_reset", 0)? != 0,
        input_forget: node.attributes.int_or("input_forget", 0)? != 0,
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
    let weights = part(node, node.input(1, "W")?, direction)?;
    let product = node.binary("matmul", x, node.transpose(weights, &[1, 0])?)?;
    let Some(bias) = node.optional(3) else { return Ok(product) };
    let both = part(node, bias, direction)?;
    node.binary("add", product, node.slice(both, 0, 0, kind.gates * size)?)
}

/// Runs all steps; gives the outputs in the order of time, `[1, batch, hidden]` each, and the last
/// state. Steps beyond the length of a sequence give zeros and leave its state alone.
fn unroll<'c>(
    cell: &Cell<'_, '_, 'c>,
    kind: &Kind,
    x: Val<'c>,
    mut state: State<'c>,
    steps: i64,
    reversed: bool,
) -> OpResult<(Vec<Val<'c>>, State<'c>)> {
    let node = cell.node;
    let lengths = match node.optional(4) {
        None => None,
        Some(lengths) => Some(node.unsqueeze(node.cast(lengths, DType::I64)?, &[1])?),
    };
    let mut outputs = Vec::new();
    for step in 0..steps {
        let time = if reversed { steps - 1 - step } else { step };
        let now = node.squeeze(node.slice(x, 0, time, time + 1)?, &[0])?;
        let mut next = (kind.step)(cell, now, &state)?;
        let mut output = next.hidden;
        if let Some(lengths) = lengths {
            let runs = node.binary_with("greater", lengths, time as f64)?;
            let choose = |new: Val<'c>, old: Val<'c>| node.op("where", &[runs, new, old], &[]);
            output = choose(output, node.scalar_like(output, 0.0)?)?;
            next.hidden = choose(next.hidden, state.hidden)?;
            if let (Some(new), Some(old)) = (next.cell, state.cell) {
                next.cell = Some(choose(new, old)?);
            }
        }
        outputs.push(node.unsqueeze(output, &[0])?);
        state = next;
    }
    if reversed {
        outputs.reverse();
    }
    Ok((outputs, state))
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
