//! Constants that images are combined with.

use super::{Layout, permuted, to_nhwc};
use crate::{
    Result,
    host::kernel::{Element, weights},
    ir::{self, Builder, Val, constant::Elements},
};
use melior::ir::ValueLike;

impl<'c> Layout<'c> {
    /// A constant that broadcasts to images of a rank, for NHWC.
    pub(super) fn constant(
        &mut self,
        b: &Builder<'c>,
        value: Val<'c>,
        rank: usize,
    ) -> Result<Option<Val<'c>>> {
        let dims = ir::dims(value.r#type());
        let Some(elements) = Elements::of_value(value) else { return Ok(None) };
        if elements.len() == 1 {
            return Ok(Some(value));
        }
        let Some(lead) = rank.checked_sub(dims.len()) else { return Ok(None) };
        let mut padded = vec![1; lead];
        padded.extend(dims);
        let shape = permuted(&padded, &to_nhwc(rank));
        let element = Element::of(value.r#type());
        match element {
            Some(Element::F32) if elements.is_splat() => {
                return weights::splat(b, &shape, elements.float(0) as f32).map(Some);
            }
            Some(Element::F64) if elements.is_splat() => {
                return weights::splat(b, &shape, elements.float(0)).map(Some);
            }
            _ => {}
        }
        let strides = ir::memref::row_major(&padded);
        let steps = permuted(&strides, &to_nhwc(rank));
        let mut places = vec![0];
        for (dim, step) in shape.iter().zip(steps) {
            let along = |place: usize| (0..*dim).map(move |at| place + (at * step) as usize);
            places = places.into_iter().flat_map(along).collect();
        }
        self.constants += 1;
        let name = format!("nhwc_{}", self.constants);
        match element {
            Some(Element::I32) => {
                let moved: Vec<i32> =
                    places.into_iter().map(|at| elements.int(at) as i32).collect();
                weights::constant(b, &shape, moved, &name).map(Some)
            }
            Some(Element::F32) => moved::<f32>(b, value, (&shape, &places), &name),
            Some(Element::F64) => moved::<f64>(b, value, (&shape, &places), &name),
            _ => Ok(None),
        }
    }
}

/// The floats at some places of a constant.
fn moved<'c, T: weights::Float>(
    b: &Builder<'c>,
    value: Val<'c>,
    (shape, places): (&[i64], &[usize]),
    name: &str,
) -> Result<Option<Val<'c>>> {
    let Some(values) = weights::floats::<T>(value) else { return Ok(None) };
    let moved = places.iter().map(|at| values[*at]).collect();
    weights::constant(b, shape, moved, name).map(Some)
}
