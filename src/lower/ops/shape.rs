//! Ops on shapes, and ops that only rearrange or repeat elements.

use crate::{
    Result,
    ir::{
        self, Builder, Val,
        constant::Elements,
        graph::{
            ConstantOfShapeAdaptor, DepthToSpaceAdaptor, ExpandAdaptor, EyeLikeAdaptor,
            PackAdaptor, RangeAdaptor, ShapeAdaptor, SizeAdaptor, SpaceToDepthAdaptor, TileAdaptor,
            TransposeAdaptor, TriluAdaptor, UnpackAdaptor,
        },
    },
    lower::{
        Lowering,
        generic::{broadcast, d, fill, loop_index, parallel},
        operands::{choose, constant_tensor, i64_tensor, only_element},
        scalar::{
            convert,
            float::{add, mul},
            narrow, widen,
        },
        shape,
    },
};
use melior::ir::{ValueLike, attribute::DenseElementsAttribute};

/// Constants up to this many elements stay constants; larger ones are cheaper to fill.
const LARGEST_SPLAT: i64 = 1024;

/// `graph.shape`.
fn shape_of<'c>(l: &Lowering<'c>, op: ShapeAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let dims = ir::dims(op.x().r#type());
    let rank = dims.len() as i64;
    let clamp = |at: i64| (if at < 0 { at + rank } else { at }).clamp(0, rank) as usize;
    let (start, end) = (clamp(op.start()), clamp(op.end().unwrap_or(rank)));
    let sizes = &dims[start..end.max(start)];
    Ok(vec![i64_tensor(&l.b, &[sizes.len() as i64], sizes)?])
}

/// `graph.size`.
fn size<'c>(l: &Lowering<'c>, op: SizeAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let count = ir::dims(op.x().r#type()).iter().product();
    Ok(vec![i64_tensor(&l.b, &[], &[count])?])
}

/// The ops whose result has the elements of the first operand in the same order.
fn in_order<'c>(l: &Lowering<'c>, x: Val<'c>) -> Result<Vec<Val<'c>>> {
    Ok(vec![shape::reshape(&l.b, x, &l.result_dims(0)?)?])
}

fn transpose<'c>(l: &Lowering<'c>, op: TransposeAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let rank = l.result_dims(0)?.len();
    let perm = op.perm();
    let perm: Vec<_> = if perm.is_empty() {
        (0..rank).rev().collect()
    } else {
        perm.iter().map(|axis| *axis as usize).collect()
    };
    Ok(vec![shape::transpose(&l.b, op.x(), &perm)?])
}

/// The parts of `graph.pack`.
struct Blocks {
    /// The shape with whole blocks.
    full: Vec<i64>,
    /// The shape `full` with each dimension split into number of the block and place in it.
    split: Vec<i64>,
    /// Index in `split` of each part's dimension.
    order: Vec<usize>,
}

impl Blocks {
    fn new(shape: &[i64], dims: &[i64], blocks: &[i64], inner: &[i64]) -> Self {
        let parts: Vec<(usize, i64, bool)> = (0_i64..)
            .zip(dims.iter().zip(blocks))
            .map(|(part, (dim, block))| (*dim as usize, *block, inner.contains(&part)))
            .collect();
        let (mut full, mut split) = (vec![], vec![]);
        let mut order = vec![0; parts.len()];
        for (dim, size) in shape.iter().enumerate() {
            let block = parts.iter().find(|part| part.0 == dim).map_or(1, |part| part.1);
            let count = (size + block - 1) / block;
            full.push(count * block);
            for (part, place) in parts.iter().zip(&mut order).filter(|(part, _)| part.0 == dim) {
                *place = split.len() + usize::from(part.2);
            }
            split.push(count);
            if parts.iter().any(|part| part.0 == dim && part.2) {
                split.push(block);
            }
        }
        Self { full, split, order }
    }
}

fn pack<'c>(l: &Lowering<'c>, op: PackAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let from = ir::dims(op.x().r#type());
    let blocks = Blocks::new(&from, &op.dims(), &op.blocks(), &op.inner());
    let high: Vec<i64> = blocks.full.iter().zip(&from).map(|(full, size)| full - size).collect();
    let zero = match high.iter().any(|high| *high > 0) {
        true => Some(l.b.constant(ir::element_type(op.x().r#type()), 0.0)?),
        false => None,
    };
    let full = match zero {
        Some(zero) => shape::pad(&l.b, op.x(), &vec![0; from.len()], &high, zero)?,
        None => op.x(),
    };
    let split = shape::reshape(&l.b, full, &blocks.split)?;
    let parts = shape::transpose(&l.b, split, &blocks.order)?;
    Ok(vec![shape::reshape(&l.b, parts, &l.result_dims(0)?)?])
}

fn unpack<'c>(l: &Lowering<'c>, op: UnpackAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let to = l.result_dims(0)?;
    let blocks = Blocks::new(&to, &op.dims(), &op.blocks(), &op.inner());
    let parts: Vec<i64> = blocks.order.iter().map(|place| blocks.split[*place]).collect();
    let parts = shape::reshape(&l.b, op.x(), &parts)?;
    let mut back = vec![0; blocks.order.len()];
    for (part, place) in blocks.order.iter().enumerate() {
        back[*place] = part;
    }
    let split = shape::transpose(&l.b, parts, &back)?;
    let full = shape::reshape(&l.b, split, &blocks.full)?;
    let rank = to.len();
    Ok(vec![shape::slice(&l.b, full, &vec![0; rank], &to, &vec![1; rank])?])
}

fn expand<'c>(l: &Lowering<'c>, op: ExpandAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let (from, to) = (ir::dims(op.x().r#type()), ir::dims(ty));
    if from.iter().product::<i64>() == to.iter().product::<i64>() {
        return Ok(vec![shape::reshape(&l.b, op.x(), &to)?]);
    }
    Ok(vec![parallel(&l.b, ty, &[(op.x(), broadcast(&from, &to))], |_, x| Ok(x[0]))?])
}

/// Each repeated dimension becomes two loops, over the copies and inside of one.
fn tile<'c>(l: &Lowering<'c>, op: TileAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (from, to) = (ir::dims(op.x().r#type()), l.result_dims(0)?);
    let times: Vec<_> = from.iter().zip(&to).map(|(from, to)| to / from.max(&1)).collect();
    Ok(vec![repeat(&l.b, op.x(), &times, &vec![1; from.len()], &to)?])
}

/// `x` with `outer` copies of each dimension one after the other, and each element of it repeated
/// `inner` times. `to` is the resulting shape.
pub(super) fn repeat<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    outer: &[i64],
    inner: &[i64],
    to: &[i64],
) -> Result<Val<'c>> {
    let from = ir::dims(x.r#type());
    let element = ir::element_type(x.r#type());
    if from == to {
        return Ok(x);
    }
    if to.contains(&0) {
        return b.empty(b.tensor(to, element));
    }
    let (mut split, mut map) = (vec![], vec![]);
    for (axis, size) in from.iter().enumerate() {
        if outer[axis] != 1 {
            split.push(outer[axis]);
        }
        map.push(d(split.len()));
        split.push(*size);
        if inner[axis] != 1 {
            split.push(inner[axis]);
        }
    }
    let copies = parallel(b, b.tensor(&split, element), &[(x, map)], |_, x| Ok(x[0]))?;
    shape::reshape(b, copies, to)
}

fn range<'c>(l: &Lowering<'c>, op: RangeAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let element = ir::element_type(ty);
    let start = only_element(&l.b, op.start())?;
    let delta = only_element(&l.b, op.delta())?;
    let value = parallel(&l.b, ty, &[], |b, _| {
        let index = b.op1("arith.index_cast", &[loop_index(b, 0)?], b.int(64))?;
        if !ir::is_float(element) {
            let step = b.binary("arith.muli", convert(b, index, false, element, false)?, delta)?;
            return b.binary("arith.addi", start, step);
        }
        let (start, delta) = (widen(b, start)?, widen(b, delta)?);
        let index = convert(b, index, false, delta.r#type(), false)?;
        narrow(b, add(b, start, mul(b, index, delta)?)?, element)
    })?;
    Ok(vec![value])
}

fn constant_of_shape<'c>(
    l: &Lowering<'c>,
    op: ConstantOfShapeAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let count: i64 = ir::dims(ty).iter().product();
    if count == 0 {
        return Ok(vec![l.b.empty(ty)?]);
    }
    let value = Elements::new(op.value())
        .and_then(|elements| elements.uniform(&l.b))
        .ok_or_else(|| l.unsupported("a 'value' of this kind"))?;
    if count <= LARGEST_SPLAT {
        let splat = DenseElementsAttribute::new(ty, &[value]).map_err(ir::unexpected)?;
        return Ok(vec![constant_tensor(&l.b, splat)?]);
    }
    let element = ir::element_type(ty);
    let scalar = l.b.op1_with("arith.constant", &[], element, vec![("value", value)])?;
    Ok(vec![fill(&l.b, ty, scalar)?])
}

/// The column of the current element minus its row, in the last two of `rank` loops.
fn diagonal<'c>(b: &Builder<'c>, rank: usize) -> Result<Val<'c>> {
    let row = b.op1("arith.index_cast", &[loop_index(b, rank - 2)?], b.int(64))?;
    let column = b.op1("arith.index_cast", &[loop_index(b, rank - 1)?], b.int(64))?;
    b.binary("arith.subi", column, row)
}

fn eye_like<'c>(l: &Lowering<'c>, op: EyeLikeAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let element = ir::element_type(ty);
    let value = parallel(&l.b, ty, &[], |b, _| {
        let wanted = b.constant_int(b.int(64), op.k())?;
        let hit = b.cmpi("eq", diagonal(b, 2)?, wanted)?;
        choose(b, hit, b.constant(element, 1.0)?, b.constant(element, 0.0)?)
    })?;
    Ok(vec![value])
}

fn trilu<'c>(l: &Lowering<'c>, op: TriluAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let rank = ir::dims(ty).len();
    let k = match op.k() {
        Some(k) => only_element(&l.b, k)?,
        None => l.b.constant_int(l.b.int(64), 0)?,
    };
    let predicate = if op.upper() { "sge" } else { "sle" };
    let value = parallel(&l.b, ty, &[(op.x(), crate::lower::generic::identity(rank))], |b, x| {
        let kept = b.cmpi(predicate, diagonal(b, rank)?, k)?;
        choose(b, kept, x[0], b.constant(x[0].r#type(), 0.0)?)
    })?;
    Ok(vec![value])
}

/// Splits dimensions, swaps the parts and joins them again.
fn regroup<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    split: &[i64],
    perm: &[usize],
) -> Result<Vec<Val<'c>>> {
    let parts = shape::reshape(&l.b, x, split)?;
    let swapped = shape::transpose(&l.b, parts, perm)?;
    Ok(vec![shape::reshape(&l.b, swapped, &l.result_dims(0)?)?])
}

fn depth_to_space<'c>(l: &Lowering<'c>, op: DepthToSpaceAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let from = ir::dims(op.x().r#type());
    let block = op.blocksize();
    let depth = from[1] / (block * block);
    let (n, h, w) = (from[0], from[2], from[3]);
    if op.mode() == "CRD" {
        return regroup(l, op.x(), &[n, depth, block, block, h, w], &[0, 1, 4, 2, 5, 3]);
    }
    regroup(l, op.x(), &[n, block, block, depth, h, w], &[0, 3, 4, 1, 5, 2])
}

fn space_to_depth<'c>(l: &Lowering<'c>, op: SpaceToDepthAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let from = ir::dims(op.x().r#type());
    let block = op.blocksize();
    let split = [from[0], from[1], from[2] / block, block, from[3] / block, block];
    let depth_first = ir::attr_str(l.op, "mode").as_deref() == Some("CRD");
    let perm = if depth_first { [0, 1, 3, 5, 2, 4] } else { [0, 3, 5, 1, 2, 4] };
    regroup(l, op.x(), &split, &perm)
}

super::lowerings! {
    ConstantOfShape => constant_of_shape,
    DepthToSpace => depth_to_space,
    Expand => expand,
    EyeLike => eye_like,
    Flatten => |l, op| in_order(l, op.x()),
    Pack => pack,
    Range => range,
    Reshape => |l, op| in_order(l, op.x()),
    Shape => shape_of,
    Size => size,
    SpaceToDepth => space_to_depth,
    Squeeze => |l, op| in_order(l, op.x()),
    Tile => tile,
    Transpose => transpose,
    Trilu => trilu,
    Unpack => unpack,
    Unsqueeze => |l, op| in_order(l, op.x()),
}
