//! Weights in the order in which kernels read them, packed when a model is compiled.

use super::tiling::ChannelTiles;
use crate::{
    Error, Result,
    ir::{Builder, Val},
    lower::Elements,
};
use melior::{
    StringRef,
    ir::{Attribute, Type, TypeLike},
};
use mlir_sys as sys;
use std::ffi::c_void;

/// How a constant `[filters][reduction]` or `[reduction][channels]` lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// ONNX filters: `[group][filter][input channel][tap]`, where a reduction goes over taps
    /// first: `[tap][input channel]`.
    Filters {
        /// Groups.
        groups: usize,
        /// Filters of a group.
        filters: usize,
        /// Input channels of a group.
        depth: usize,
        /// Kernel rows times columns.
        taps: usize,
    },
    /// A matrix `[rows][columns]`, rows being the reduction.
    Matrix {
        /// Length of the reduction.
        rows: usize,
        /// Channels.
        columns: usize,
        /// Whether the matrix is stored as `[columns][rows]`.
        transposed: bool,
    },
}

impl Source {
    /// Groups, reduction length and channels per group.
    fn sizes(&self) -> (usize, usize, usize) {
        match *self {
            Self::Filters { groups, filters, depth, taps } => (groups, taps * depth, filters),
            Self::Matrix { rows, columns, .. } => (1, rows, columns),
        }
    }

    /// Position of an element in the source.
    fn index(&self, group: usize, reduction: usize, channel: usize) -> usize {
        match *self {
            Self::Filters { filters, depth, taps, .. } => {
                let (tap, input) = (reduction / depth, reduction % depth);
                ((group * filters + channel) * depth + input) * taps + tap
            }
            Self::Matrix { columns, transposed: false, .. } => reduction * columns + channel,
            Self::Matrix { rows, transposed: true, .. } => channel * rows + reduction,
        }
    }

    /// The values block by block, each block `[reduction][lanes of the block]`; lanes without a
    /// channel are 0.
    pub fn pack(&self, values: &[f32], blocks: &[ChannelTiles]) -> Vec<f32> {
        let (groups, reduction, _) = self.sizes();
        let mut packed = Vec::with_capacity(values.len());
        for group in 0..groups {
            let mut first = 0;
            for tiles in blocks {
                let width = tiles.width() as usize;
                for _ in 0..tiles.count {
                    for r in 0..reduction {
                        let row = (first..first + width).map(|f| values[self.index(group, r, f)]);
                        packed.extend(row);
                        packed.resize(packed.len() + tiles.lanes() as usize - width, 0.0);
                    }
                    first += width;
                }
            }
        }
        packed
    }

    /// The values of depthwise filters as `[tap][channel]`.
    pub fn pack_depthwise(&self, values: &[f32]) -> Vec<f32> {
        let (groups, reduction, _) = self.sizes();
        (0..reduction)
            .flat_map(|r| (0..groups).map(move |group| (r, group)))
            .map(|(r, group)| values[self.index(group, r, 0)])
            .collect()
    }
}

/// The elements of a constant as f32; `None` if the value is no f32 constant.
pub fn floats(value: Val<'_>) -> Option<Vec<f32>> {
    let elements = Elements::of_value(value)?;
    // SAFETY: any type may be asked.
    let is_f32 =
        unsafe { sys::mlirTypeIsAF32(crate::ir::element_type(elements.r#type()).to_raw()) };
    if !is_f32 {
        return None;
    }
    if elements.is_splat() {
        return Some(vec![elements.float(0) as f32; elements.len()]);
    }
    let (bytes, _) = elements.bytes().as_chunks::<4>();
    Some(bytes.iter().take(elements.len()).map(|word| f32::from_ne_bytes(*word)).collect())
}

/// A `graph.constant` of f32 numbers of the given shape; `name` is that of its blob, if it is
/// large enough to be one.
pub fn constant<'c>(
    b: &Builder<'c>,
    shape: &[i64],
    values: Vec<f32>,
    name: &str,
) -> Result<Val<'c>> {
    let ty = b.tensor(shape, b.f32());
    let count: i64 = shape.iter().product();
    if count != values.len() as i64 {
        return Err(Error::internal("a constant whose shape does not fit its values"));
    }
    let attribute = if values.len() <= DENSE_LIMIT {
        // SAFETY: the type is static and has as many elements as there are values.
        unsafe {
            Attribute::from_raw(sys::mlirDenseElementsAttrFloatGet(
                ty.to_raw(),
                values.len() as isize,
                values.as_ptr(),
            ))
        }
    } else {
        blob(ty, values, name)
    };
    b.op1_with("graph.constant", &[], ty, vec![("value", attribute)])
}

/// Constants of up to this many elements are stored in the attribute itself.
const DENSE_LIMIT: usize = 64;

fn blob<'c>(ty: Type<'c>, values: Vec<f32>, name: &str) -> Attribute<'c> {
    let owner = Box::new(values);
    let (data, size) = (owner.as_ptr(), size_of_val(owner.as_slice()));
    // SAFETY: the attribute keeps the values alive through `release` and, being immutable, never
    // writes them.
    unsafe {
        Attribute::from_raw(sys::mlirUnmanagedDenseResourceElementsAttrGet(
            ty.to_raw(),
            StringRef::new(name).to_raw(),
            data.cast_mut().cast(),
            size,
            align_of::<f32>(),
            false,
            Some(release),
            Box::into_raw(owner).cast(),
        ))
    }
}

/// Called by MLIR when it needs the data no more.
unsafe extern "C" fn release(owner: *mut c_void, _: *const c_void, _: usize, _: usize) {
    // SAFETY: `owner` is the box that `blob` gave away, and MLIR calls this once.
    drop(unsafe { Box::from_raw(owner.cast::<Vec<f32>>()) });
}

#[cfg(test)]
mod tests {
    use super::{super::split_channels, Source};

    #[test]
    fn blocks_of_filters_are_interleaved_and_padded() {
        // Three filters of two channels and two taps.
        let source = Source::Filters { groups: 1, filters: 3, depth: 2, taps: 2 };
        let values: Vec<f32> = (0..12u8).map(f32::from).collect();
        let packed = source.pack(&values, &split_channels(3, 4, 1));
        // Tap by tap, channel by channel, the three filters and an unused lane.
        assert_eq!(
            packed,
            [0.0, 4.0, 8.0, 0.0, 2.0, 6.0, 10.0, 0.0, 1.0, 5.0, 9.0, 0.0, 3.0, 7.0, 11.0, 0.0]
        );
    }

    #[test]
    fn a_transposed_matrix_packs_like_its_transpose() {
        let plain = Source::Matrix { rows: 2, columns: 4, transposed: false };
        let transposed = Source::Matrix { rows: 2, columns: 4, transposed: true };
        let blocks = split_channels(4, 2, 1);
        let (a, b): (Vec<f32>, Vec<f32>) =
            ((0..8u8).map(f32::from).collect(), vec![0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
        assert_eq!(plain.pack(&a, &blocks), transposed.pack(&b, &blocks));
    }
}
