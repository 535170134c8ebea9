//! `graph.col2im`: patches are added to an image with its padding around it, which is cut off then.

use super::window::Window;
use crate::{
    Result,
    ir::{self, Val, graph::Col2ImAdaptor},
    lower::{
        Lowering,
        generic::{Aff, Iter, d, fill, generic, identity},
        scalar::{float::add, narrow, wide_type, widen},
        shape,
    },
};

fn col2im<'c>(l: &Lowering<'c>, op: Col2ImAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (b, ty) = (&l.b, l.result_type(0)?);
    let (to, kernel) = (ir::dims(ty), op.kernel_shape());
    if to.contains(&0) {
        return Ok(vec![b.empty(ty)?]);
    }
    let window = Window::of(l, &kernel);
    let rank = window.rank();
    let padded: Vec<_> =
        (0..rank).map(|i| to[2 + i] + window.begin[i] + window.end[i]).collect();
    let counts = (0..rank).map(|i| (padded[i] - window.extent(i)) / window.strides[i] + 1);
    let from = [&to[..2], &kernel, &counts.collect::<Vec<_>>()].concat();
    let x = shape::reshape(b, op.x(), &from)?;
    // Loops over images and channels, elements of windows, windows: neighbours of these are neighbours in both.
    let place = |i: usize| window.position(i, 2 + rank + i, 2 + i);
    let places: Vec<Aff> = [d(0), d(1)].into_iter().chain((0..rank).map(place)).collect();
    let mut loops = vec![Iter::Reduction; 2 + 2 * rank];
    loops[..2].fill(Iter::Parallel);
    let wide = wide_type(b, ir::element_type(ty));
    let canvas = b.tensor(&[&to[..2], &padded].concat(), wide);
    let canvas = fill(b, canvas, b.constant(wide, 0.0)?)?;
    let sums = generic(b, &loops, &[(x, identity(from.len()))], &[(canvas, places)], |b, args| {
        let x = widen(b, args[0])?;
        Ok(vec![if ir::is_float(wide) { add(b, args[1], x)? } else { b.binary("arith.addi", args[1], x)? }])
    })?;
    let start = [&[0, 0], &window.begin[..]].concat();
    let inside = match padded == to[2..] {
        true => sums[0],
        false => shape::slice(b, sums[0], &start, &to, &vec![1; to.len()])?,
    };
    if wide == ir::element_type(ty) {
        return Ok(vec![inside]);
    }
    Ok(vec![l.elementwise(&[inside], ty, |b, sum| narrow(b, sum[0], ir::element_type(ty)))?])
}

super::lowerings! {
    Col2Im => col2im,
}
