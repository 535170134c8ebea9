//! Windows that slide over images, and images of other sizes.

use super::{
    Outcome, Rule,
    resample::{Arith, Way, regions},
};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, constant::Elements, edit, graph, op_name, view::OpView},
    lower::normalize_axis,
    sizes::{
        Bounding, Dim,
        mask::{Neutral, integers},
    },
};
use melior::ir::ValueLike;
use phaseline_base::size::Size;

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] = &[
        (graph::Conv::NAME, conv),
        (graph::ConvInteger::NAME, conv),
        (graph::QLinearConv::NAME, qlinear_conv),
        (graph::ConvTranspose::NAME, conv_transpose),
        (graph::MaxPool::NAME, pool),
        (graph::LpPool::NAME, pool),
        (graph::AveragePool::NAME, average_pool),
        (graph::Resize::NAME, resize),
        (graph::Pad::NAME, pad),
    ];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// A window along one axis.
pub(super) struct Window {
    kernel: i64,
    stride: i64,
    dilation: i64,
    begin: i64,
    end: i64,
}

impl Window {
    /// The distance from the first to the last position of a window.
    fn reach(&self) -> i64 {
        self.dilation * (self.kernel - 1)
    }

    pub(super) fn result(&self, size: &Size) -> Size {
        let last = size.plus(&(self.begin + self.end - self.reach() - 1).into());
        last.over(self.stride).plus(&1.into())
    }
}

/// The windows of an operation with these kernel sizes.
pub(super) fn windows(op: Op<'_>, kernels: &[i64]) -> Vec<Window> {
    let list = |name: &str, otherwise: i64, count: usize| {
        let list = ir::attr_i64s(op, name).unwrap_or_default();
        if list.is_empty() { vec![otherwise; count] } else { list }
    };
    let rank = kernels.len();
    let (strides, dilations) = (list("strides", 1, rank), list("dilations", 1, rank));
    let pads = list("pads", 0, 2 * rank);
    let axes = kernels.iter().enumerate();
    let window = |(axis, kernel): (usize, &i64)| Window {
        kernel: *kernel,
        stride: strides[axis],
        dilation: dilations[axis],
        begin: pads[axis],
        end: pads[rank + axis],
    };
    axes.map(window).collect()
}

/// The size of a side of an image.
fn side(dim: &Dim) -> Result<&Size> {
    dim.single().ok_or_else(|| Error::invalid("has an image whose side is a product of sizes"))
}

/// The axes along which windows of results that count reach behind the image.
fn reaching(dims: &[Dim], windows: &[Window]) -> Vec<usize> {
    let axes = windows.iter().enumerate().filter(|(_, window)| window.end > 0);
    axes.map(|(axis, _)| axis + 2).filter(|axis| !dims[*axis].is_known()).collect()
}

/// The dimensions of a result with so many channels.
fn slid(dims: &[Dim], channels: Dim, windows: &[Window]) -> Result<Vec<Dim>> {
    let mut result = vec![dims[0].clone(), channels];
    for (dim, window) in dims[2..].iter().zip(windows) {
        result.push(Dim::of(window.result(side(dim)?)));
    }
    Ok(result)
}

fn conv<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let operands = ir::operands(op);
    let (dims, w) = (s.dims(operands[0]), s.dims(operands[1]));
    let Some(w) = w.iter().map(Dim::as_known).collect::<Option<Vec<_>>>() else {
        return Err(Error::invalid("has filters of sizes that are known at run time"));
    };
    let windows = windows(op, &w[2..]);
    let channels = Dim::known(w[1] * ir::attr_i64(op, "group").unwrap_or(1));
    s.same(&dims[1], &channels, "has channels, and filters for channels, of")?;
    let reaching = reaching(&dims, &windows);
    let zero = graph::ConvInteger::of(op).and_then(|view| view.x_zero_point());
    match zero {
        Some(zero) if !reaching.is_empty() => pad_with_zero_point(s, b, op, (&reaching, zero))?,
        _ => s.mask_operand(b, op, 0, (&reaching, Neutral::Zero))?,
    }
    Ok(Outcome::Stays(vec![slid(&dims, Dim::known(w[0]), &windows)?]))
}

/// Reads what is behind an image of integers as their zero.
fn pad_with_zero_point<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    (axes, zero): (&[usize], Val<'c>),
) -> Result<()> {
    let attributes = graph::ReshapeAttrs { allowzero: true };
    let zero = graph::Reshape::build(b, zero, integers(b, &[0], &[])?, attributes)?.y();
    let masked = s.masked_with(b, ir::operands(op)[0], axes, zero)?;
    edit::set_operand(op, 0, masked)
}

fn qlinear_conv<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let Some(view) = graph::QLinearConv::of(op) else {
        return Err(Error::internal("a convolution that is not as ODS has it"));
    };
    let (dims, w) = (s.dims(view.x()), s.dims(view.w()));
    let Some(w) = w.iter().map(Dim::as_known).collect::<Option<Vec<_>>>() else {
        return Err(Error::invalid("has filters of sizes that are known at run time"));
    };
    let windows = windows(op, &w[2..]);
    let channels = Dim::known(w[1] * ir::attr_i64(op, "group").unwrap_or(1));
    s.same(&dims[1], &channels, "has channels, and filters for channels, of")?;
    let reaching = reaching(&dims, &windows);
    if !reaching.is_empty() {
        pad_with_zero_point(s, b, op, (&reaching, view.x_zero_point()))?;
    }
    Ok(Outcome::Stays(vec![slid(&dims, Dim::known(w[0]), &windows)?]))
}

fn conv_transpose<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let operands = ir::operands(op);
    let (dims, w) = (s.dims(operands[0]), s.dims(operands[1]));
    let Some(w) = w.iter().map(Dim::as_known).collect::<Option<Vec<_>>>() else {
        return Err(Error::invalid("has filters of sizes that are known at run time"));
    };
    let windows = windows(op, &w[2..]);
    s.same(&dims[1], &Dim::known(w[0]), "has channels, and filters for channels, of")?;
    let extra = ir::attr_i64s(op, "output_padding").unwrap_or_default();
    let channels = w[1] * ir::attr_i64(op, "group").unwrap_or(1);
    let mut result = vec![dims[0].clone(), Dim::known(channels)];
    for (axis, window) in windows.iter().enumerate() {
        let steps = side(&dims[axis + 2])?.minus(&1.into()).times(&window.stride.into());
        let rest = extra.get(axis).copied().unwrap_or(0) + window.reach() + 1;
        result.push(Dim::of(steps.plus(&(rest - window.begin - window.end).into())));
    }
    // Each element spreads over the ends of what counts.
    let axes: Vec<_> = (2..dims.len()).collect();
    s.mask_operand(b, op, 0, (&axes, Neutral::Zero))?;
    Ok(Outcome::Stays(vec![result]))
}

/// The windows of a pool; with `ceil_mode` only over sides that are known.
fn pooled(op: Op<'_>, dims: &[Dim]) -> Result<Vec<Window>> {
    let kernels = ir::attr_i64s(op, "kernel_shape").unwrap_or_default();
    let ceil = ir::attr_bool(op, "ceil_mode").unwrap_or(false);
    if ceil && dims[2..].iter().any(|dim| !dim.is_known()) {
        return Err(Error::invalid("rounds a size that is known at run time up (ceil_mode)"));
    }
    Ok(windows(op, &kernels))
}

/// The dimensions of a pool. Sides that are known are those of its type, with `ceil_mode` or without.
fn pool_dims<'c>(dims: &[Dim], windows: &[Window], result: Val<'c>) -> Result<Vec<Dim>> {
    let mut all = slid(dims, dims[1].clone(), windows)?;
    for (axis, dim) in ir::dims(result.r#type()).into_iter().enumerate().skip(2) {
        if dim != ir::DYNAMIC {
            all[axis] = Dim::known(dim);
        }
    }
    Ok(all)
}

fn pool<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let windows = pooled(op, &dims)?;
    let neutral = if op_name(op) == graph::MaxPool::NAME { Neutral::Least } else { Neutral::Zero };
    s.mask_operand(b, op, 0, (&reaching(&dims, &windows), neutral))?;
    Ok(Outcome::Stays(vec![pool_dims(&dims, &windows, ir::result0(op)?)?]))
}

fn average_pool<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let x = ir::operands(op)[0];
    let dims = s.dims(x);
    let windows = pooled(op, &dims)?;
    let reaching = reaching(&dims, &windows);
    let result = pool_dims(&dims, &windows, ir::result0(op)?)?;
    if reaching.is_empty() {
        return Ok(Outcome::Stays(vec![result]));
    }
    let masked = s.masked(b, x, &reaching, Neutral::Zero)?;
    if ir::attr_bool(op, "count_include_pad").unwrap_or(false) {
        edit::set_operand(op, 0, masked)?;
        return Ok(Outcome::Stays(vec![result]));
    }
    // The mean of what counts: that over all of the window, divided by the share of it that counts.
    let attributes = graph::AveragePoolAttrs {
        strides: windows.iter().map(|window| window.stride).collect(),
        pads: windows.iter().map(|w| w.begin).chain(windows.iter().map(|w| w.end)).collect(),
        dilations: windows.iter().map(|window| window.dilation).collect(),
        count_include_pad: true,
        ..Default::default()
    };
    let kernels: Vec<_> = windows.iter().map(|window| window.kernel).collect();
    let mut ones = vec![Dim::known(1), Dim::known(1)];
    ones.extend(dims[2..].iter().cloned());
    let rooms: Vec<_> = ones.iter().map(|dim| s.room(dim)).collect();
    let ty = b.tensor_type(&rooms, ir::element_type(x.r#type()))?;
    let one = graph::Constant::build(b, b.parse_attr(&format!("dense<1.0> : {ty}"))?)?.y();
    s.know(one, ones);
    let one = s.masked(b, one, &reaching, Neutral::Zero)?;
    let mean = graph::AveragePool::build(b, masked, &kernels, attributes.clone())?.y();
    let share = graph::AveragePool::build(b, one, &kernels, attributes)?.y();
    let y = graph::Div::build(b, mean, share)?.y();
    s.know(y, result);
    Ok(Outcome::Replaced(vec![y]))
}

/// Numerator and denominator of a scale: a small fraction.
fn fraction(scale: f64) -> Option<(i64, i64)> {
    (1..=64).find_map(|below| {
        let above = scale * below as f64;
        ((above - above.round()).abs() < 1e-6 && above >= 1.0)
            .then_some((above.round() as i64, below))
    })
}

fn resize<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let Some(view) = graph::Resize::of(op) else {
        return Err(Error::internal("a resize that is not as ODS has it"));
    };
    let mut dims = s.dims(view.x());
    let axes = match view.axes() {
        axes if axes.is_empty() => (0..dims.len()).collect(),
        axes => axes.into_iter().map(|axis| normalize_axis(axis, dims.len())).collect::<Vec<_>>(),
    };
    let scales = view.scales().and_then(Elements::of_value).map(|scales| scales.floats());
    let sizes = view.sizes().and_then(|sizes| s.content(sizes));
    let refuse =
        |why: &str| Err(Error::invalid(format!("resizes a size that is known at run time {why}")));
    let mut x = s.materialized(b, view.x())?;
    let mut rooms = vec![];
    if view.keep_aspect_ratio_policy() != "stretch" && axes.iter().any(|at| !dims[*at].is_known()) {
        return refuse("to a share that it decides");
    }
    let regions = regions(view, axes.len())?;
    let mut ways = vec![];
    let mut stays = true;
    for (place, axis) in axes.iter().enumerate() {
        let from = dims[*axis].clone();
        let region = regions.as_ref().map(|all| all[place]);
        let target = match (&scales, &sizes) {
            (Some(scales), _) => match (from.as_known(), fraction(scales[place])) {
                (Some(known), _) => Size::from((known as f64 * scales[place]).floor() as i64),
                (None, Some((above, below))) => side(&from)?.times(&above.into()).over(below),
                (None, None) => return refuse("by a scale that is no small fraction"),
            },
            (_, Some(sizes)) => sizes[place].clone(),
            _ => return refuse("as its data say"),
        };
        let target = if target == from.size() { from.clone() } else { Dim::of(target) };
        rooms.push(s.room(&target));
        let cut = region.is_some_and(|region| region != (0.0, 1.0));
        let open = !(from.is_known() && target.is_known());
        if target != from || (cut && open) {
            ways.push(Way {
                axis: *axis,
                target: target.size(),
                scale: scales.as_ref().and_then(|scales| fraction(scales[place])),
                region,
                view,
            });
        }
        if (target != from || cut) && open {
            let ratio = target.single().and_then(|size| size.divided(side(&from).ok()?));
            let whole = scales.is_some() || ratio.as_ref().and_then(Size::known).is_some();
            let by_scale = matches!(
                view.coordinate_transformation_mode(),
                "half_pixel" | "pytorch_half_pixel" | "asymmetric"
            );
            stays &= whole && by_scale && !view.exclude_outside();
        }
        dims[*axis] = target;
    }
    if view.antialias() && ways.iter().any(|way| !s.dims(x)[way.axis].is_known()) {
        return refuse("with antialias");
    }
    if !stays {
        if scales.is_some() && ways.iter().any(|way| way.scale.is_none()) {
            return refuse("by a scale that is no small fraction");
        }
        for way in &ways {
            x = s.resampled(b, x, way)?;
        }
        return Ok(Outcome::Replaced(vec![x]));
    }
    for way in &ways {
        x = s.edge_filled(b, x, way.axis)?;
    }
    edit::set_operand(op, 0, x)?;
    if view.sizes().is_some() {
        let index = ir::operands(op).len() - 1;
        s.put_numbers(b, op, index, &rooms)?;
    }
    Ok(Outcome::Stays(vec![dims]))
}

fn pad<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let Some(view) = graph::Pad::of(op) else {
        return Err(Error::internal("a pad that is not as ODS has it"));
    };
    let mut dims = s.dims(view.x());
    let Some(pads) = s.content(view.pads()) else {
        return Err(Error::invalid(
            "pads by sizes that do not follow from those of inputs; if an input has them, give it values or ranges: --value NAME=[1..8,3]",
        ));
    };
    let axes: Vec<_> = match view.axes() {
        None => (0..dims.len()).collect(),
        Some(axes) => {
            let axes =
                s.numbers(axes).ok_or_else(|| Error::invalid("has axes that data decide"))?;
            axes.into_iter().map(|axis| normalize_axis(axis, dims.len())).collect()
        }
    };
    let mut x = s.materialized(b, view.x())?;
    let mode = view.mode().to_owned();
    let (mut filled, mut known, mut moved) = (vec![], vec![0; pads.len()], vec![]);
    for (place, axis) in axes.iter().enumerate() {
        let (begin, end) = (&pads[place], &pads[axes.len() + place]);
        let numbers = begin.known().zip(end.known());
        match numbers {
            Some((0, 0)) => continue,
            Some((begin, end)) if dims[*axis].is_known() || mode == "constant" => {
                (known[place], known[axes.len() + place]) = (begin, end);
                if end > 0 && !dims[*axis].is_known() {
                    filled.push(*axis);
                }
            }
            Some((begin, end)) if mode == "edge" && begin >= 0 && end >= 0 => {
                (known[place], known[axes.len() + place]) = (begin, end);
                x = s.edge_filled(b, x, *axis)?;
            }
            _ => {
                moved.push((*axis, begin.clone(), end.clone()));
                continue;
            }
        }
        let size = side(&dims[*axis])?.plus(begin).plus(end);
        dims[*axis] = Dim::of(size);
    }
    x = match view.value() {
        Some(value) => s.masked_with(b, x, &filled, value)?,
        None => s.masked(b, x, &filled, Neutral::Zero)?,
    };
    edit::set_operand(op, 0, x)?;
    s.put_numbers(b, op, 1, &known)?;
    if moved.is_empty() {
        return Ok(Outcome::Stays(vec![dims]));
    }
    let list = integers(b, &[known.len() as i64], &known)?;
    let attributes = graph::PadAttrs { mode: mode.clone() };
    if known.iter().any(|count| *count != 0) {
        x = graph::Pad::build(b, x, list, view.value(), view.axes(), attributes)?.y();
        s.know(x, dims);
    }
    for (axis, begin, end) in moved {
        x = padded(s, b, (x, view.value()), &mode, (axis, &begin, &end))?;
    }
    Ok(Outcome::Replaced(vec![x]))
}

/// A value whose padding along an axis is looked up by position.
fn padded<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (x, value): (Val<'c>, Option<Val<'c>>),
    mode: &str,
    (axis, begin, end): (usize, &Size, &Size),
) -> Result<Val<'c>> {
    let a = Arith(b);
    let x = s.singled(b, x, axis)?;
    let dims = s.dims(x);
    let own = dims[axis].size();
    let size = own.plus(begin).plus(end).or_more(&0.into(), &s.symbols);
    let dim = Dim::of(size);
    crate::sizes::dim::check(std::slice::from_ref(&dim), &s.symbols)?;
    let count = s.room(&dim);
    let all = integers(b, &[count], &(0..count).collect::<Vec<_>>())?;
    let at = a.minus(all, s.value_of(begin)?)?;
    let length = s.value_of(&own)?;
    let last = a.minus(length, a.number(1)?)?;
    let place = match mode {
        "reflect" => {
            let absolute = |value| Ok::<_, Error>(graph::Abs::build(b, value)?.y());
            a.minus(last, absolute(a.minus(absolute(at)?, last)?)?)?
        }
        "wrap" => a.rest(at, a.most(length, a.number(1)?)?)?,
        _ => at,
    };
    let y = s.gathered(b, x, (axis, a.inside(place, last)?), dim)?;
    if mode != "constant" {
        return Ok(y);
    }
    let inside = graph::And::build(
        b,
        graph::GreaterOrEqual::build(b, at, a.number(0)?)?.y(),
        graph::Less::build(b, at, length)?.y(),
    )?
    .y();
    let behind: Vec<i64> = (1..(dims.len() - axis) as i64).collect();
    let inside = match behind.is_empty() {
        true => inside,
        false => graph::Unsqueeze::build(b, inside, &behind)?.y(),
    };
    let value = match value {
        Some(value) => value,
        None => a.cast(a.number(0)?, ir::element_type(x.r#type()))?,
    };
    let filled = graph::Where::build(b, inside, y, value)?.y();
    let dims = s.dims(y);
    s.know(filled, dims);
    Ok(filled)
}
