//! The loops of a call that is computed tile by tile.
//!
//! Loops that are not cut have their place from the start. A tile of a tensor is loaded as soon as
//! the loops that it depends on have one: as far outside as it can be. Where a tile touches a
//! border it gets a loop, or a place, of its own, so that every tile has static sizes. Tiles are
//! tensors in the memory space of the pool: bufferization makes buffers there, and copies to and
//! from them.

use super::{
    TileRef,
    argument::{number_like, replaced},
    choose::{Choice, names_ends},
    pieces::{Piece, Run},
    plan::{Dim, Loop, Plan, Tensor},
    pool::Pool,
    slice::{Offset, allocate, insert, part, repeat, replace, used},
    value::value,
};
use crate::{
    Error, Result,
    expr::Expr,
    ir::{
        self, Builder, Val,
        call_extern::{CallExtern, Group, KEEPS},
        names,
    },
};
use melior::ir::{Attribute, Type, ValueLike};

/// Position of a tile in one loop: at `start + step * iv`, with all else as in the piece.
#[derive(Clone, Copy)]
struct Place<'c, 'e> {
    run: &'e Run,
    iv: Option<Val<'c>>,
}

/// State inside of some of the loops: places, and tiles that are loaded.
#[derive(Clone)]
pub(super) struct Bound<'c, 'e> {
    places: Vec<Option<Place<'c, 'e>>>,
    pub(super) inputs: Vec<Option<Val<'c>>>,
}

impl<'e> Bound<'_, 'e> {
    /// The pieces of all loops, if each has its place.
    pub(super) fn pieces(&self) -> Option<Vec<&'e Piece>> {
        self.places.iter().map(|place| place.map(|place| &place.run.piece)).collect()
    }
}

/// An argument that differs from tile to tile.
struct Argument<'e> {
    place: usize,
    field: &'e str,
    value: Expr,
}

/// Emits the loops of one call.
pub struct Emitter<'c, 'e> {
    builder: Builder<'c>,
    pub(super) call: &'e CallExtern<'c>,
    pub(super) plan: &'e Plan,
    runs: Vec<Vec<Run>>,
    /// The loops that do not reduce and are cut, then those that reduce.
    order: &'e [usize],
    reduced: Vec<usize>,
    args: Vec<Argument<'e>>,
    /// The memory space of each pool.
    spaces: Vec<Attribute<'c>>,
}

impl<'c, 'e> Emitter<'c, 'e> {
    /// For a call, its plan and the sizes of its tiles.
    pub fn new(
        builder: Builder<'c>,
        call: &'e CallExtern<'c>,
        plan: &'e Plan,
        choice: &'e Choice,
    ) -> Result<Self> {
        let mut args = vec![];
        for argument in &plan.args {
            args.push(Argument {
                place: usize::try_from(argument.place).unwrap_or(usize::MAX),
                field: &argument.field,
                value: Expr::parse(&argument.value)?,
            });
        }
        let runs = plan.loops.iter().zip(&choice.sizes).map(|(l, size)| {
            let ends = args.iter().any(|argument| names_ends(&argument.value, &l.name));
            l.runs(*size, ends)
        });
        let runs: Vec<Vec<Run>> = runs.collect();
        let reduced = (0..runs.len()).filter(|place| plan.loops[*place].reduce);
        let reduced = reduced.filter(|place| !is_whole(&runs[*place])).collect();
        let spaces = plan
            .pools
            .iter()
            .map(|pool| builder.parse_attr(&format!("#tir.space<{:?}>", pool.name)));
        let spaces = spaces.collect::<Result<_>>()?;
        let order = &choice.order;
        Ok(Self { builder, call, plan, order, reduced, runs, args, spaces })
    }

    /// The memory space that the tile of a tensor is in, and its pool.
    pub(super) fn home(&self, tensor: &Tensor) -> Result<(Attribute<'c>, &'e Pool)> {
        let place = tensor.pool_place();
        let space = place.and_then(|place| self.spaces.get(place));
        let pool = place.and_then(|place| self.plan.pools.get(place));
        space.copied().zip(pool).ok_or_else(|| Error::internal("a tile is in no pool"))
    }

    /// The call's results, in `outputs`.
    pub fn emit(&self, outputs: Vec<Val<'c>>) -> Result<Vec<Val<'c>>> {
        let whole = |runs| is_whole(runs).then(|| Place { run: &runs[0], iv: None });
        let places = self.runs.iter().map(|runs| whole(runs));
        let inputs = vec![None; self.call.groups[Group::Ins as usize].len()];
        let bound = Bound { places: places.collect(), inputs };
        self.outer(&self.builder, self.order, bound, outputs)
    }

    /// The loops around one tile of the outputs, which are written into `targets`.
    fn outer<'s>(
        &'s self,
        b: &Builder<'c>,
        loops: &[usize],
        mut bound: Bound<'c, 's>,
        targets: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        self.load(b, &mut bound)?;
        let Some((place, rest)) = loops.split_first() else {
            return self.store(b, &bound, targets);
        };
        self.runs[*place].iter().try_fold(targets, |targets, run| {
            repeat(b, run.count, targets, |b, iv, targets| {
                let mut inner = bound.clone();
                inner.places[*place] = Some(Place { run, iv });
                self.outer(b, rest, inner, targets)
            })
        })
    }

    /// Computes one tile of each output and puts it into its target.
    fn store<'s>(
        &'s self,
        b: &Builder<'c>,
        bound: &Bound<'c, 's>,
        targets: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        let outputs = &self.plan.tensors[bound.inputs.len()..];
        let mut tiles = vec![];
        let mut slices = vec![];
        for (tensor, target) in outputs.iter().zip(&targets) {
            let slice = self.slice(b, bound, tensor)?;
            let element = match &tensor.dtype {
                Some(dtype) => b.parse_type(dtype)?,
                None => ir::element_type(target.r#type()),
            };
            tiles.push(match tensor.moved_pool() {
                Some(_) => self.room(b, tensor, &slice.1, element)?,
                // The part of the tensor itself.
                None => part(b, *target, &slice.0, &slice.1)?,
            });
            slices.push(slice);
        }
        let tiles = self.reduce(b, &self.reduced, bound.clone(), tiles)?;
        let parts = tiles.into_iter().zip(targets).zip(outputs).zip(&slices);
        parts
            .map(|(((tile, target), tensor), slice)| {
                if tensor.moved_pool().is_none() {
                    return replace(b, tile, target, &slice.0, &slice.1);
                }
                let tile = used(b, tile, &slice.1)?;
                match tensor.is_converted() {
                    true => self.convert(b, bound, (tensor, tile), (target, slice)),
                    false => insert(b, tile, target, &slice.0, &slice.1),
                }
            })
            .collect()
    }

    /// The loops that add up the tiles of the outputs.
    fn reduce<'s>(
        &'s self,
        b: &Builder<'c>,
        loops: &[usize],
        mut bound: Bound<'c, 's>,
        tiles: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        self.load(b, &mut bound)?;
        let Some((place, rest)) = loops.split_first() else {
            return self.compute(b, &bound, tiles);
        };
        self.runs[*place].iter().try_fold(tiles, |tiles, run| {
            repeat(b, run.count, tiles, |b, iv, tiles| {
                let mut inner = bound.clone();
                inner.places[*place] = Some(Place { run, iv });
                self.reduce(b, rest, inner, tiles)
            })
        })
    }

    /// Loads the tiles whose places are known by now.
    fn load(&self, b: &Builder<'c>, bound: &mut Bound<'c, '_>) -> Result<()> {
        let count = bound.inputs.len();
        let inputs = self.plan.tensors.iter().take(count).enumerate();
        // Those that loads are given arrays for come when these are there.
        let (late, first): (Vec<_>, Vec<_>) = inputs.partition(|(_, tensor)| tensor.has_arrays());
        for (index, tensor) in first.into_iter().chain(late) {
            let needs = tensor.dims.iter().filter_map(Dim::loop_place);
            if bound.inputs[index].is_none()
                && needs.into_iter().all(|place| bound.places[place].is_some())
                && self.has_arrays_of(bound, tensor)
            {
                let (offsets, sizes) = self.slice(b, bound, tensor)?;
                let source = self.call.groups[Group::Ins as usize][index];
                let part = part(b, source, &offsets, &sizes)?;
                bound.inputs[index] = Some(match tensor.moved_pool() {
                    Some(_) if tensor.is_converted() => {
                        self.converted(b, bound, tensor, (part, &sizes))?
                    }
                    Some(_) => self.loaded(b, tensor, part, &sizes)?,
                    None => part,
                });
            }
        }
        Ok(())
    }

    /// Memory for a tile of so many elements, filled up to whole rows.
    pub(super) fn room(
        &self,
        b: &Builder<'c>,
        tensor: &Tensor,
        sizes: &[i64],
        element: Type<'c>,
    ) -> Result<Val<'c>> {
        let (space, pool) = self.home(tensor)?;
        let mut filled = sizes.to_vec();
        if let Some(last) = filled.last_mut() {
            *last = pool.filled(*last, tensor.element);
        }
        allocate(b, b.tensor(&filled, element), None, space)
    }

    /// A tile with the contents of a part of its tensor.
    fn loaded(
        &self,
        b: &Builder<'c>,
        tensor: &Tensor,
        part: Val<'c>,
        sizes: &[i64],
    ) -> Result<Val<'c>> {
        let (space, pool) = self.home(tensor)?;
        let size = sizes.last().copied().unwrap_or(1);
        if pool.filled(size, tensor.element) == size {
            return allocate(b, part.r#type(), Some(part), space);
        }
        let room = self.room(b, tensor, sizes, ir::element_type(part.r#type()))?;
        replace(b, part, room, &vec![Offset::Known(0); sizes.len()], sizes)
    }

    /// The pieces whose results are stored. All of a loop that reduces is in them.
    pub(super) fn stored_pieces(&self, bound: &Bound<'c, '_>) -> Vec<Piece> {
        let places = bound.places.iter().zip(&self.plan.loops);
        let piece = |(place, l): (&Option<Place<'c, '_>>, &Loop)| match place {
            Some(place) => place.run.piece.clone(),
            None => l.piece(0, l.extent),
        };
        places.map(piece).collect()
    }

    /// The part of a tensor that its tile covers.
    pub(super) fn slice(
        &self,
        b: &Builder<'c>,
        bound: &Bound<'c, '_>,
        tensor: &Tensor,
    ) -> Result<(Vec<Offset<'c>>, Vec<i64>)> {
        let mut offsets = vec![];
        let mut sizes = vec![];
        for dim in &tensor.dims {
            let place = dim.loop_place().and_then(|place| bound.places[place]);
            let Some(Place { run, iv }) = place else {
                offsets.push(Offset::Known(0));
                sizes.push(dim.size);
                continue;
            };
            let piece = &run.piece;
            let (start, size, step) = match dim.window_place() {
                Some(window) => {
                    let reach = piece.reaches[window];
                    (reach.start, reach.size, run.input_steps[window])
                }
                None => {
                    let size = (piece.size + dim.divisor - 1) / dim.divisor;
                    (piece.start / dim.divisor, size, run.step / dim.divisor)
                }
            };
            offsets.push(Offset::of(b, iv, start, step)?);
            sizes.push(size);
        }
        Ok((offsets, sizes))
    }

    /// The call for one tile.
    fn compute(
        &self,
        b: &Builder<'c>,
        bound: &Bound<'c, '_>,
        tiles: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        let lost = || Error::internal("a tile is computed before it is loaded");
        let pieces = bound.pieces().ok_or_else(lost)?;
        let inputs: Option<Vec<Val<'c>>> = bound.inputs[..self.passed()].iter().copied().collect();
        let mut call = self.call.clone();
        call.attributes.retain(|(name, _)| name != names::TILE && name != KEEPS);
        self.trim_host_ins(b, &mut call);
        call.groups = [vec![], inputs.ok_or_else(lost)?, tiles];
        let in_pool = |group: Group, index: usize| {
            let outs = bound.inputs.len();
            let place = if group == Group::Ins { index } else { outs + index };
            self.plan.tensors.get(place).is_some_and(|tensor| tensor.pool_place().is_some())
        };
        for argument in &mut call.args {
            *argument = ir::call_extern::by_offset(b.context, *argument, &in_pool)?;
        }
        for argument in &self.args {
            let known = call.args.len();
            let slot = call.args.get_mut(argument.place).ok_or_else(|| {
                Error::invalid(format!(
                    "`tile` sets an argument that '{}' does not have: each `place` in its `args` is one of 0 to {}",
                    call.callee,
                    known.saturating_sub(1)
                ))
            })?;
            *slot = match TileRef::of(&argument.value) {
                Some(TileRef::Stride(tensor, dim)) => {
                    let stride = |old| self.stride(b, (&tensor, dim), old);
                    replaced(b, *slot, argument.field, &stride)?
                }
                _ => {
                    let number = value(self.plan, &pieces, &argument.value);
                    let number = number.map_err(Error::invalid)?;
                    replaced(b, *slot, argument.field, &|old| number_like(old, &number))?
                }
            };
        }
        let adds = |(place, piece): (usize, &&Piece)| self.plan.loops[place].reduce && !piece.first;
        if pieces.iter().enumerate().any(adds) {
            call.set("accumulate", Attribute::unit(b.context));
        }
        let types: Vec<_> = call.groups[Group::Outs as usize].iter().map(|v| v.r#type()).collect();
        Ok(ir::results(call.build(b, &types)?))
    }

    /// The argument that is the stride of a tensor's dimension, a number of the type of `old`.
    fn stride(
        &self,
        b: &Builder<'c>,
        (tensor, dim): (&str, i64),
        old: Attribute<'c>,
    ) -> Result<Attribute<'c>> {
        let place = self.plan.tensors.iter().position(|known| known.name == tensor);
        let (Some(place), Some(ty)) = (place, ir::attribute::number_type(old)) else {
            return Err(Error::invalid(format!(
                "the tile's plan passes the stride of '{tensor}', which is no tensor, or as {old}, no number"
            )));
        };
        let reads = self.call.groups[Group::Ins as usize].len();
        let (group, index) = if place < reads { ("ins", place) } else { ("outs", place - reads) };
        b.parse_attr(&format!("#tir.stride<{group} {index}, {dim}, {ty}>"))
    }
}

fn is_whole(runs: &[Run]) -> bool {
    matches!(runs, [run] if run.count == 1)
}
