//! Operators that assemble images from their patches.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::OpResult;
use super::OpEntry;
use super::conv::Window;

pub(super) const OPS: &[OpEntry] = &[OpEntry::with("Col2Im", 18, 3..=3, col2im)];

/// Adds each element of each patch where it belongs in the image.
fn col2im<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "input")?;
    let image = node.known_ints(1, "image_shape")?.ok_or("the input image_shape is missing")?;
    let block = node.known_ints(2, "block_shape")?.ok_or("the input block_shape is missing")?;
    if image.len() != block.len() {
        return Err("image_shape and block_shape do not fit".into());
    }
    let window = Window::read(node, block)?;
    let attributes = [
        ("image_shape", image.into()),
        ("kernel_shape", window.kernel.into()),
        ("strides", window.strides.into()),
        ("pads", window.pads.into()),
        ("dilations", window.dilations.into()),
    ];
    Ok(vec![node.op("col2im", &[x], &attributes)?])
}
