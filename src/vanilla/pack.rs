//! Packing weights by the device's lanes.

use super::LANES;
use crate::{Result, ir::elements, lower::Elements, tensor::AlignedBuffer};

/// The weights of a layer as they are stored in the model.
pub struct Weights<'c> {
    elements: Elements<'c>,
    out_c: usize,
    in_c: usize,
    taps: usize,
    /// Elements from one output channel, input channel and tap to the next.
    steps: [usize; 3],
    scale: f32,
}

impl<'c> Weights<'c> {
    /// Weights `[out_c, in_c, taps]`.
    pub fn conv(elements: Elements<'c>, dims: [i64; 3]) -> Self {
        let [out_c, in_c, taps] = dims.map(|dim| dim as usize);
        Self { elements, out_c, in_c, taps, steps: [in_c * taps, taps, 1], scale: 1.0 }
    }

    /// Weights `[in_c, out_c]`, given the dimensions as output and input channels.
    pub fn matrix(elements: Elements<'c>, dims: [i64; 2]) -> Self {
        let [out_c, in_c] = dims.map(|dim| dim as usize);
        Self { elements, out_c, in_c, taps: 1, steps: [1, out_c, 1], scale: 1.0 }
    }

    /// The same weights times a factor.
    pub fn scaled(self, scale: f32) -> Self {
        Self { scale, ..self }
    }

    /// Number of output channels.
    pub fn out_c(&self) -> usize {
        self.out_c
    }

    /// Dimensions of the packed weights: blocks of lanes, input channels, taps times lanes.
    pub fn packed_dims(&self) -> [i64; 3] {
        let blocks = (self.out_c as i64 + LANES - 1) / LANES;
        [blocks, self.in_c as i64, self.taps as i64 * LANES]
    }

    /// The packed weights: `[blocks][in_c][taps][lanes]`, with zeros past the last channel.
    pub fn packed(&self) -> Result<AlignedBuffer> {
        let lanes = LANES as usize;
        // Read as bytes: asking for one element after the other takes a minute for a large network.
        let bytes = elements::bytes(self.elements.attribute())?;
        let [o, i, t] = self.steps;
        let count = self.packed_dims().iter().product::<i64>() as usize;
        let mut buffer = AlignedBuffer::zeroed(4 * count)?;
        let mut cells = buffer.as_mut_slice().chunks_exact_mut(4);
        for block in 0..self.out_c.div_ceil(lanes) {
            for in_c in 0..self.in_c {
                for tap in 0..self.taps {
                    for (lane, cell) in cells.by_ref().take(lanes).enumerate() {
                        let out_c = block * lanes + lane;
                        if out_c < self.out_c {
                            let at = 4 * (out_c * o + in_c * i + tap * t);
                            let mut value = [0; 4];
                            value.copy_from_slice(&bytes[at..at + 4]);
                            let value = f32::from_ne_bytes(value) * self.scale;
                            cell.copy_from_slice(&value.to_ne_bytes());
                        }
                    }
                }
            }
        }
        Ok(buffer)
    }
}
