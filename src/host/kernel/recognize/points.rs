//! Output points in the order that suits register tiles, which hold neighbours of a row.

use super::{collapse, windowed};
use crate::host::kernel::{
    Contraction, View, Weights, Window,
    window::{AXES, COL, PLANE, ROW},
};

/// Makes the points of all images and rows one row, where all buffers allow it.
pub(super) fn flatten(spec: &mut Contraction) {
    let dims = [spec.batch, spec.planes, spec.rows, spec.cols];
    let steps = |view: &View| collapse(&dims, &[view.batch, view.plane, view.row, view.col]);
    if spec.window != Window::point(spec.grid()) || spec.has_matrices() {
        return;
    }
    let Some((x, y)) = steps(&spec.x).zip(steps(&spec.y)) else { return };
    let Some(operands) = spec.operands.iter().map(steps).collect::<Option<Vec<_>>>() else {
        return;
    };
    let total = dims.iter().product();
    let flat = |view: View, col: i64| View { batch: 0, plane: 0, row: 0, col, ..view };
    (spec.x, spec.y) = (flat(spec.x, x), flat(spec.y, y));
    for (view, col) in spec.operands.iter_mut().zip(operands) {
        *view = flat(*view, col);
    }
    (spec.batch, spec.planes, spec.rows, spec.cols) = (1, 1, 1, total);
    spec.window = Window::point(spec.grid());
}

/// Makes the rows of an output of one column the columns of one row: register tiles hold points of a row. The taps
/// and channels of a row of the window must lie next to each other.
pub(super) fn rows_as_columns(spec: &mut Contraction) {
    let window = &spec.window;
    let taps = window.kernel[COL];
    let joined = taps == 1 || window.dilation[COL] * spec.x.col == spec.depth * spec.x.channel;
    if spec.cols != 1
        || spec.rows == 1
        || spec.groups != 1
        || spec.weights != Weights::Packed
        || !spec.types.sum.is_float()
        || !spec.sections.is_empty()
        || !joined
        || !window.columns_inside(0, 1)
    {
        return;
    }
    let window = turned(window);
    if !windowed::has_few_edges(&window, spec.rows) {
        return;
    }
    let view = |view: View| View { col: view.row, row: 0, ..view };
    (spec.x, spec.y) = (view(spec.x), view(spec.y));
    spec.operands.iter_mut().for_each(|operand| *operand = view(*operand));
    (spec.window, spec.depth) = (window, spec.depth * taps);
    (spec.rows, spec.cols) = (1, spec.rows);
}

/// The window on rows of one column that are the columns of one row.
pub fn turned(window: &Window) -> Window {
    let turned = |of: [i64; AXES], row: i64| [of[PLANE], row, of[ROW]];
    Window {
        kernel: turned(window.kernel, 1),
        stride: turned(window.stride, 1),
        dilation: turned(window.dilation, 1),
        pad: turned(window.pad, 0),
        input: turned(window.input, 1),
    }
}
