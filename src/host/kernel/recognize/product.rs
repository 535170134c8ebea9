//! Matrix products.

use super::{Kernel, Recognized, Scope, WeightsOperand, stored::Stored};
use crate::{
    host::kernel::{Contraction, Types, View, Weights, Window, weights::Source},
    ir::{Op, graph, view::OpView},
};

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
        let step = |dims: &[i64]| -> Option<i64> {
            let (own, matrix) = dims.split_at(dims.len() - 2);
            match own.iter().product::<i64>() {
                1 => Some(0),
                count if count == matrices => Some(matrix[0] * matrix[1]),
                _ => None,
            }
        };
        let (a_step, b_step) = (step(a_dims)?, step(b_dims)?);
        let constant = b_step == 0 && self.is_constant(b);
        let floats = types == Types::F32 && b_step == 0;
        let stored = self.outer(b).filter(|_| floats).and_then(|b| Stored::of(b, matrices * m));
        let types = match &stored {
            Some(stored) => Types { weights: stored.element(), ..types },
            None => types,
        };
        let packed = constant || stored.is_some();
        let source = Source::Matrix { rows: k as usize, columns: n as usize, transposed: false };
        let kernel = Kernel::Contraction(Contraction {
            types,
            batch: matrices,
            planes: 1,
            rows: 1,
            cols: m,
            groups: 1,
            channels: n,
            sections: vec![],
            depth: k,
            window: Window::point([1, 1, m]),
            x: View { batch: a_step, col: k, channel: 1, ..Default::default() },
            weights: if packed { Weights::Packed } else { Weights::Rows(n) },
            weights_batch: b_step,
            weights_plane: 0,
            scales: stored.as_ref().map(|stored| stored.block),
            start: None,
            amx: None,
            y: View { batch: m * n, col: n, channel: 1, ..Default::default() },
            operands: vec![],
        });
        let source = packed.then_some(source);
        let (integers, scales) = stored.map(|stored| (stored.integers, stored.scales)).unzip();
        let weights = Some(WeightsOperand { operand: b, source, scale: 1.0, integers, scales });
        Some(Recognized { weights, ..self.found("matmul", kernel, a) })
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
        // The alpha of a product with a variable matrix is rare: not worth a case of its own.
        if !constant && (gemm.trans_b() || gemm.alpha() != 1.0) {
            return None;
        }
        let source =
            Source::Matrix { rows: k as usize, columns: n as usize, transposed: gemm.trans_b() };
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
            weights: if constant { Weights::Packed } else { Weights::Rows(n) },
            weights_batch: 0,
            weights_plane: 0,
            scales: None,
            start: None,
            amx: None,
            y: View { col: n, channel: 1, ..Default::default() },
            operands: vec![],
        });
        let source = constant.then_some(source);
        let scale = gemm.alpha();
        let weights =
            Some(WeightsOperand { operand: b, source, scale, integers: None, scales: None });
        Some(Recognized { weights, bias, ..self.found("matmul", kernel, a) })
    }
}
