//! One step of a recurrent layer.

use crate::ir::Val;

use super::super::super::context::NodeContext;
use super::super::super::emit::OpResult;
use super::super::activations::Activation;
use super::weights::Weights;

/// State carried from one step to the next: both `[batch, hidden]`.
#[derive(Clone, Copy)]
pub(super) struct State<'c> {
    pub(super) hidden: Val<'c>,
    pub(super) cell: Option<Val<'c>>,
}

/// One direction of a layer.
#[derive(Clone)]
pub(super) struct Cell<'a, 'b, 'c> {
    pub(super) node: &'a NodeContext<'b, 'c>,
    pub(super) size: i64,
    pub(super) activations: Vec<Activation>,
    pub(super) clip: Option<f64>,
    /// Recurrence weights, `[hidden, gates * hidden]`, and their bias, `[gates * hidden]`.
    pub(super) recurrence: Weights<'c>,
    pub(super) recurrence_bias: Option<Val<'c>>,
    /// The same of the gate that sees the hidden state after it was reset, which is not among them.
    pub(super) candidate: Option<(Weights<'c>, Option<Val<'c>>)>,
    pub(super) peepholes: Option<Val<'c>>,
    pub(super) input_forget: bool,
    /// For each sequence of the batch its length, `[batch, 1]`.
    pub(super) lengths: Option<Val<'c>>,
}

impl<'c> Cell<'_, '_, 'c> {
    /// The same in the body of a loop, whose operations `node` makes.
    pub(super) fn inside<'i, 'j>(&self, node: &'i NodeContext<'j, 'c>) -> Cell<'i, 'j, 'c> {
        let capture = |value: Val<'c>| node.emitter.capture(self.node.emitter, value);
        Cell {
            node,
            size: self.size,
            activations: self.activations.clone(),
            clip: self.clip,
            recurrence: self.recurrence.map(capture),
            recurrence_bias: self.recurrence_bias.map(capture),
            candidate: self
                .candidate
                .map(|(weights, bias)| (weights.map(capture), bias.map(capture))),
            peepholes: self.peepholes.map(capture),
            input_forget: self.input_forget,
            lengths: self.lengths.map(capture),
        }
    }

    /// Output and next state where sequences may have ended before `time`: zeros, and the state as
    /// it was.
    pub(super) fn end_short(
        &self,
        time: Val<'c>,
        next: State<'c>,
        old: &State<'c>,
    ) -> OpResult<(Val<'c>, State<'c>)> {
        let Some(lengths) = self.lengths else { return Ok((next.hidden, next)) };
        let runs = self.node.binary("greater", lengths, time)?;
        let choose = |new: Val<'c>, old: Val<'c>| self.node.op("where", &[runs, new, old], &[]);
        let output = choose(next.hidden, self.node.scalar_like(next.hidden, 0.0)?)?;
        let hidden = choose(next.hidden, old.hidden)?;
        let cell = next.cell.zip(old.cell).map(|(new, old)| choose(new, old)).transpose()?;
        Ok((output, State { hidden, cell }))
    }

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

    /// Contribution of the hidden state to the gates.
    fn recur(&self, hidden: Val<'c>) -> OpResult<Val<'c>> {
        self.product(hidden, self.recurrence, self.recurrence_bias)
    }

    fn product(
        &self,
        hidden: Val<'c>,
        weights: Weights<'c>,
        bias: Option<Val<'c>>,
    ) -> OpResult<Val<'c>> {
        let product = weights.times(self.node, hidden)?;
        match bias {
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

pub(super) fn rnn_step<'c>(
    cell: &Cell<'_, '_, 'c>,
    x: Val<'c>,
    state: &State<'c>,
) -> OpResult<State<'c>> {
    let sums = cell.add(x, cell.recur(state.hidden)?)?;
    Ok(State { hidden: cell.activate(0, sums)?, cell: None })
}

/// Gates: update, reset, hidden.
pub(super) fn gru_step<'c>(
    cell: &Cell<'_, '_, 'c>,
    x: Val<'c>,
    state: &State<'c>,
) -> OpResult<State<'c>> {
    let recurred = cell.recur(state.hidden)?;
    let sum = |gate: i64| cell.add(cell.gate(x, gate)?, cell.gate(recurred, gate)?);
    let update = cell.activate(0, sum(0)?)?;
    let reset = cell.activate(0, sum(1)?)?;
    let inner = match cell.candidate {
        None => cell.mul(reset, cell.gate(recurred, 2)?)?,
        Some((weights, bias)) => cell.product(cell.mul(reset, state.hidden)?, weights, bias)?,
    };
    let candidate = cell.activate(1, cell.add(cell.gate(x, 2)?, inner)?)?;
    let fresh = cell.mul(cell.complement(update)?, candidate)?;
    let kept = cell.mul(update, state.hidden)?;
    Ok(State { hidden: cell.add(fresh, kept)?, cell: None })
}

/// Gates: input, output, forget, cell.
pub(super) fn lstm_step<'c>(
    cell: &Cell<'_, '_, 'c>,
    x: Val<'c>,
    state: &State<'c>,
) -> OpResult<State<'c>> {
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
