//! Products of sizes as single sizes.

use super::{Bounding, Dim, mask::integers};
use crate::{
    Result,
    ir::{Builder, Val, graph},
};

impl<'c> Bounding<'c> {
    /// A value whose dimension along an axis is a single size: what counts is looked up, so that it comes first.
    pub(super) fn flat(&mut self, b: &Builder<'c>, x: Val<'c>, axis: usize) -> Result<Val<'c>> {
        let mut dims = self.dims(x);
        let dim = dims[axis].clone();
        if dim.single().is_some() {
            return Ok(x);
        }
        let rooms = dim.rooms(&self.symbols);
        let total: i64 = rooms.iter().product();
        let all: Vec<_> = (0..total).collect();
        let one = integers(b, &[], &[1])?;
        let mut rest = integers(b, &[total], &all)?;
        let (mut place, mut stride) = (None, 1);
        for (at, (size, room)) in dim.sizes().iter().zip(&rooms).enumerate().rev() {
            let digit = if at == 0 {
                // Behind the end there is no element.
                let last = integers(b, &[], &[(room - 1).max(0)])?;
                graph::Min::build(b, rest, last)?.y()
            } else {
                let count = self.value_of(size)?;
                let count = graph::Max::build(b, count, one)?.y();
                let digit = graph::Mod::build(b, rest, count, graph::ModAttrs::default())?.y();
                rest = graph::Div::build(b, rest, count)?.y();
                digit
            };
            let scaled = graph::Mul::build(b, digit, integers(b, &[], &[stride])?)?.y();
            place = Some(match place {
                Some(place) => graph::Add::build(b, place, scaled)?.y(),
                None => scaled,
            });
            stride *= room;
        }
        let Some(places) = place else { return Ok(x) };
        let y = graph::Gather::build(b, x, places, graph::GatherAttrs { axis: axis as i64 })?.y();
        dims[axis] = Dim::of(dim.size());
        self.know(y, dims);
        Ok(y)
    }
}
