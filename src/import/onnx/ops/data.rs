//! Operators that assemble images from their patches.

use crate::ir::Val;
use crate::tensor::Tensor;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;
use super::conv::Window;

pub(super) const OPS: &[OpEntry] = &[OpEntry::with("Col2Im", 18, 3..=3, col2im)];

/// Largest number of patch elements, for which a table of places is made.
const MAX_PLACES: i64 = 1 << 22;

/// Adds each element of each patch where it belongs in the image.
fn col2im<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "input")?;
    let image = node.known_ints(1, "image_shape")?.ok_or("the input image_shape is missing")?;
    let block = node.known_ints(2, "block_shape")?.ok_or("the input block_shape is missing")?;
    let dims = node.static_dims(x, "input")?;
    let [batch, columns, patches] = dims[..] else {
        return Err(format!("the input has rank {}, expected 3", dims.len()).into());
    };
    if image.len() != block.len() || image.iter().any(|dim| *dim < 1) {
        return Err("image_shape and block_shape do not fit".into());
    }
    let window = Window::read(node, block)?;
    let area = window.kernel.iter().product::<i64>().max(1);
    let counts: Vec<i64> = (0..image.len())
        .map(|axis| {
            let pads = window.pads[axis] + window.pads[axis + image.len()];
            let room = image[axis].saturating_add(pads);
            (room - window.extent(axis)).div_euclid(window.strides[axis]).saturating_add(1)
        })
        .collect();
    let total = counts.iter().try_fold(1i64, |total, count| total.checked_mul(*count));
    if total != Some(patches) || columns % area != 0 {
        let message = format!("{patches} patches of {columns} do not tile the image {image:?}");
        return Err(message.into());
    }
    let pixels = image.iter().try_fold(1i64, |count, dim| count.checked_mul(*dim));
    let fits = |count: &i64| *count <= MAX_PLACES;
    let Some(pixels) =
        pixels.filter(|p| fits(p) && area.checked_mul(patches).is_some_and(|n| fits(&n)))
    else {
        return Err(OpError::Unsupported("an image of this size is not supported".to_string()));
    };
    let places = places(&window, &image, &counts, area, patches, pixels);
    let channels = columns / area;
    // One more place takes what falls outside of the image.
    let zero = node.scalar_like(x, 0.0)?;
    let shape = node.i64s(&[batch, channels, pixels + 1])?;
    let canvas = node.op("expand", &[zero, shape], &[])?;
    let places =
        node.constant(&Tensor::from_slice(&[1, 1, (area * patches) as usize], &places)?)?;
    let shape = node.i64s(&[batch, channels, area * patches])?;
    let places = node.op("expand", &[places, shape], &[])?;
    let updates = node.reshape(x, &[batch, channels, area * patches])?;
    let attributes = [("axis", 2i64.into()), ("reduction", "add".into())];
    let filled = node.op("scatter_elements", &[canvas, places, updates], &attributes)?;
    let inside = node.slice(filled, 2, 0, pixels)?;
    let mut shape = vec![batch, channels];
    shape.extend(&image);
    Ok(vec![node.reshape(inside, &shape)?])
}

/// For each element of a patch and each patch, its place in the flat image; `pixels` if outside.
fn places(
    window: &Window,
    image: &[i64],
    counts: &[i64],
    area: i64,
    patches: i64,
    pixels: i64,
) -> Vec<i64> {
    let mut places = Vec::new();
    for element in 0..area {
        for patch in 0..patches {
            let (mut element, mut patch) = (element, patch);
            let (mut place, mut stride, mut inside) = (0, 1, true);
            for axis in (0..image.len()).rev() {
                let offset = element % window.kernel[axis] * window.dilations[axis];
                let start = patch % counts[axis] * window.strides[axis] - window.pads[axis];
                let position = start + offset;
                inside &= (0..image[axis]).contains(&position);
                place += position * stride;
                stride *= image[axis];
                element /= window.kernel[axis];
                patch /= counts[axis];
            }
            places.push(if inside { place } else { pixels });
        }
    }
    places
}
