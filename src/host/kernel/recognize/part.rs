//! Results that are parts of a larger buffer, such as an operand of a concatenation.

use super::{Kernel, Recognized, Scope, operand_view};
use crate::{host::kernel::View, ir::memref};

/// The place of a result in a larger, contiguous buffer.
#[derive(Clone, Debug)]
pub struct Part {
    /// Dimensions of the buffer.
    pub whole: Vec<i64>,
    /// The axis along which the result is a part of it.
    pub axis: usize,
    /// The first position along the axis.
    pub start: i64,
    /// Nothing else reads the result: the kernel writes it there only.
    pub alone: bool,
}

impl Part {
    /// The first element in the buffer, and the steps along its dimensions.
    fn steps(&self) -> (i64, Vec<i64>) {
        let strides = memref::row_major(&self.whole);
        (self.start * strides[self.axis], strides)
    }
}

impl<'c> Scope<'_, 'c> {
    /// Lets the kernel write its result to `part`. False if it cannot.
    pub(super) fn place(&self, found: &mut Recognized<'c>, part: &Part) -> bool {
        let (offset, strides) = part.steps();
        let Some(view) = operand_view(self.out, &strides, self.form_of(found)) else {
            return false;
        };
        let view = View { offset, ..view };
        let (y, operands) = match &mut found.kernel {
            Kernel::Contraction(spec) => (&mut spec.y, &mut spec.operands),
            Kernel::Depthwise(spec) => (&mut spec.y, &mut spec.operands),
            Kernel::Other { kernel, .. } => {
                let Some(y) = kernel.output() else { return false };
                if part.alone {
                    *y = view;
                } else {
                    kernel.operands().push(View { output: true, ..view });
                }
                return true;
            }
        };
        if part.alone {
            *y = view;
        } else {
            operands.push(View { output: true, ..view });
        }
        true
    }
}
