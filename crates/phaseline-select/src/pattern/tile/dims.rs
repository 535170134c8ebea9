//! The dimensions of a tile: their cuts, and the number that a transfer may have.

use super::{Binder, Dim, dma::MAX_DIMS};
use crate::{
    expr::Expr,
    pattern::call::BlockPart,
    tile::{plan, pool},
};

impl Binder<'_> {
    /// The plan's dimension of so many positions, with the loop or window that cuts it.
    pub(super) fn dim(
        &mut self,
        (name, index): (&str, usize),
        dim: &Dim,
        size: i64,
    ) -> Result<plan::Dim, String> {
        if size < 1 {
            return Err(format!("'{name}' has no elements"));
        }
        Ok(match dim {
            Dim::Whole => plan::Dim::whole(size),
            Dim::Loop(place) => {
                let l = &self.plan.loops[*place];
                if l.extent != size {
                    return Err(format!(
                        "dimension {index} of '{name}' has {size} positions, loop '{}' {}",
                        l.name, l.extent
                    ));
                }
                plan::Dim { size, cut: *place as i64, divisor: 1, window: -1 }
            }
            Dim::Window(place, numbers) => {
                let [kernel, stride, dilation, pad] =
                    [0, 1, 2, 3].map(|i| self.number(&numbers[i]));
                let window = plan::Window {
                    tensor: name.to_owned(),
                    dim: index as i64,
                    input: size,
                    kernel: kernel?,
                    stride: stride?,
                    dilation: dilation?,
                    pad: pad?,
                };
                let least = window.kernel.min(window.stride).min(window.dilation);
                if least < 1 || window.pad < 0 {
                    return Err(format!(
                        "the window of '{name}' has kernel {}, stride {}, dilation {}, pad {}",
                        window.kernel, window.stride, window.dilation, window.pad
                    ));
                }
                let windows = &mut self.plan.loops[*place].windows;
                windows.push(window);
                let window = windows.len() as i64 - 1;
                plan::Dim { size, cut: *place as i64, divisor: 1, window }
            }
        })
    }

    /// The dimensions of a constant in blocks. Those at the end that are never cut are one.
    pub(super) fn blocked(
        &self,
        name: &str,
        parts: &[BlockPart],
        dims: &[plan::Dim],
    ) -> Result<Vec<plan::Dim>, String> {
        let mut made: Vec<plan::Dim> = vec![];
        for part in parts {
            let missing =
                || format!("'{name}' has {} dimensions, not those of its layout", dims.len());
            let dim = dims.get(part.dim()).ok_or_else(missing)?;
            let block = |block: &Expr| self.number(block);
            let new = match part {
                BlockPart::Whole(_) => dim.clone(),
                BlockPart::Inner(_, size) => plan::Dim::whole(block(size)?),
                BlockPart::Outer(_, size) => {
                    let divisor = block(size)?;
                    if divisor < 1 {
                        return Err(format!("'{name}' has blocks of {divisor}"));
                    }
                    let multiple =
                        dim.loop_place().map_or(divisor, |l| self.plan.loops[l].multiple);
                    if multiple % divisor != 0 || dim.window >= 0 {
                        return Err(format!(
                            "'{name}' is in blocks of {divisor}, but its tiles are multiples of \
                             {multiple}"
                        ));
                    }
                    plan::Dim { size: (dim.size + divisor - 1) / divisor, divisor, ..dim.clone() }
                }
            };
            match made.last_mut() {
                Some(last) if last.cut < 0 && new.cut < 0 => last.size *= new.size,
                _ => made.push(new),
            }
        }
        Ok(made)
    }
}

/// Fails if a tile has more dimensions than a transfer to its pool; `own` is the size of its elements there.
pub(super) fn check_transfer(
    name: &str,
    pool: &pool::Pool,
    dims: &[plan::Dim],
    own: i64,
) -> Result<(), String> {
    let most = pool.dma.dims;
    // A dimension that is not cut is adjacent to the one before it, on both sides.
    let mut cut = dims.iter().skip(1).filter(|dim: &&plan::Dim| dim.cut >= 0).count() as i64;
    // Nor is one to the rows that it is filled up to.
    let row = pool.row.max(1);
    let is_filled = |dim: &plan::Dim| dim.cut < 0 && dim.size * own % row != 0;
    cut += i64::from(dims.len() > 1 && dims.last().is_some_and(is_filled));
    if 1 + cut > most || dims.len() > MAX_DIMS {
        return Err(format!(
            "a tile of '{name}' has {} dimensions, a transfer to '{}' {most} at most",
            1 + cut,
            pool.name
        ));
    }
    Ok(())
}
