//! Matrix products.

use super::{
    Form, Kernel, Recognized, Scope, WeightsOperand, matrix_steps,
    stored::{Numbers, Stored},
};
use crate::{
    host::kernel::{Contraction, Types, View, Weights, Window, weights::Source},
    ir::{Op, graph, view::OpView},
};

/// The view of matrices with contiguous rows, with the steps between batches and planes.
fn rows_view(batch: i64, plane: i64, columns: i64) -> View {
    View { batch, plane, col: columns, channel: 1, ..Default::default() }
}

impl<'c> Scope<'_, 'c> {
    pub(super) fn matmul(&self, op: Op<'c>) -> Option<Recognized<'c>> {
        let product = graph::MatMul::of(op)?;
        let (a, b) = (self.operand(product.a())?, self.operand(product.b())?);
        let (a_dims, b_dims) = (self.dims(a)?, self.dims(b)?);
        self.product((a, &a_dims), (b, &b_dims), self.floats(a, b)?)
    }

    /// The product of matrices, or of rows of them.
    pub(super) fn product(
        &self,
        (a, a_dims): (usize, &[i64]),
        (b, b_dims): (usize, &[i64]),
        types: Types,
    ) -> Option<Recognized<'c>> {
        if a_dims.len() < 2 || b_dims.len() < 2 || self.out.len() < 2 {
            return None;
        }
        let (lead, [m, n]) = (&self.out[..self.out.len() - 2], *self.out.last_chunk::<2>()?);
        let k = *a_dims.last()?;
        let matrices: i64 = lead.iter().product();
        let planes = self.planes(lead)?;
        let steps = |dims| matrix_steps(dims, self.out, self.form);
        let ([x_batch, x_plane], [weights_batch, weights_plane]) = (steps(a_dims)?, steps(b_dims)?);
        let one = weights_batch == 0 && weights_plane == 0;
        let constant = self.is_constant(b);
        let floats = types == Types::F32 && one;
        let stored =
            self.outer(b).filter(|_| floats).and_then(|b| Stored::of(b, matrices * m, false));
        let types = match &stored {
            Some(stored) => Types { weights: stored.element(), ..types },
            None => types,
        };
        let packed = constant || stored.is_some();
        let count = b_dims[..b_dims.len() - 2].iter().product::<i64>() as usize;
        let source =
            Source::Matrix { count, rows: k as usize, columns: n as usize, transposed: false };
        let kernel = Kernel::Contraction(Contraction {
            types,
            batch: matrices / planes,
            planes,
            rows: 1,
            cols: m,
            groups: 1,
            channels: n,
            sections: vec![],
            depth: k,
            window: Window::point([planes, 1, m]),
            x: rows_view(x_batch, x_plane, k),
            weights: if packed { Weights::Packed } else { Weights::Rows(n) },
            weights_batch,
            weights_plane,
            scales: stored.as_ref().map(|stored| stored.block),
            start: None,
            amx: None,
            y: rows_view(planes * m * n, if planes == 1 { 0 } else { m * n }, n),
            operands: vec![],
        });
        let source = packed.then_some(source);
        let weights = Some(weights_operand(b, source, (1.0, stored)));
        Some(Recognized { weights, ..self.found("matmul", kernel, a) })
    }

    /// Number of matrices of the result, `lead` along each axis, that are planes of a batch.
    fn planes(&self, lead: &[i64]) -> Option<i64> {
        Some(match self.form {
            Form::Planes(count) => lead[lead.len().checked_sub(count)?..].iter().product(),
            _ => 1,
        })
    }

    pub(super) fn gemm(&self, op: Op<'c>) -> Option<Recognized<'c>> {
        let gemm = graph::Gemm::of(op)?;
        let (a, b) = (self.operand(gemm.a())?, self.operand(gemm.b())?);
        let bias = match gemm.c() {
            Some(c) => Some((self.operand(c)?, gemm.beta())),
            None => None,
        };
        let a_dims = self.dims(a)?;
        self.dims(b)?;
        let types = self.floats(a, b)?;
        let &[m, n] = self.out else { return None };
        let (k, x) = if gemm.trans_a() {
            (a_dims[0], View { col: 1, channel: m, ..Default::default() })
        } else {
            (a_dims[1], View { col: a_dims[1], channel: 1, ..Default::default() })
        };
        let constant = self.is_constant(b);
        let floats = types == Types::F32 && gemm.alpha() == 1.0;
        let stored = self.outer(b).filter(|_| floats);
        let stored = stored.and_then(|b| Stored::of(b, m, gemm.trans_b()));
        let types = match &stored {
            Some(stored) => Types { weights: stored.element(), ..types },
            None => types,
        };
        let packed = constant || stored.is_some();
        // The alpha of a product with a variable matrix is rare: not worth a case of its own.
        if !packed && (gemm.trans_b() || gemm.alpha() != 1.0) {
            return None;
        }
        let source = Source::Matrix {
            count: 1,
            rows: k as usize,
            columns: n as usize,
            // What is stored is read in the order of the product.
            transposed: gemm.trans_b() && stored.is_none(),
        };
        let kernel = Kernel::Contraction(Contraction {
            types,
            batch: 1,
            planes: 1,
            rows: 1,
            cols: m,
            groups: 1,
            channels: n,
            sections: vec![],
            depth: k,
            window: Window::point([1, 1, m]),
            x,
            weights: if packed { Weights::Packed } else { Weights::Rows(n) },
            weights_batch: 0,
            weights_plane: 0,
            scales: stored.as_ref().map(|stored| stored.block),
            start: None,
            amx: None,
            y: View { col: n, channel: 1, ..Default::default() },
            operands: vec![],
        });
        let source = packed.then_some(source);
        let weights = Some(weights_operand(b, source, (gemm.alpha(), stored)));
        Some(Recognized { weights, bias, ..self.found("matmul", kernel, a) })
    }
}

fn weights_operand(
    operand: usize,
    source: Option<Source>,
    (scale, stored): (f64, Option<Stored>),
) -> WeightsOperand {
    let (numbers, scales) = stored.map(|stored| (stored.numbers, stored.scales)).unzip();
    let (integers, floats) = match numbers {
        Some(Numbers::Integers(integers)) => (Some(integers), None),
        Some(Numbers::Floats(floats)) => (None, Some(floats)),
        None => (None, None),
    };
    WeightsOperand { operand, source, scale, integers, floats, scales }
}
