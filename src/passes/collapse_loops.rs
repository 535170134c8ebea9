//! `collapse-loops`: neighbouring loops that walk through memory as one become one loop.
//!
//! A row of 16 elements is too short for LLVM: it unrolls the innermost loop and then makes vectors
//! of the one around it, whose elements are a row apart. Two loops become one of 16 times as many
//! iterations if both are parallel or both are reductions. Each buffer of the `linalg` operation
//! must have both dimensions without a gap between them, or neither. Sums are of the same terms in
//! the same order, as far as LLVM keeps that.

use crate::{
    Result,
    ir::{self, Builder, Op, Val, edit, memref},
    lower::generic::{Aff, identity, map_attr},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{Attribute, Type, ValueLike, attribute::ArrayAttribute, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "collapse-loops",
    summary: "Collapse nested loops with contiguous accesses into one loop",
    anchor: "func.func",
    options: &[],
    dialects: &["linalg", "memref"],
    run,
};

/// Operations whose loops are those of their buffers' dimensions.
const DIMENSION_WISE: &[&str] = &["linalg.copy", "linalg.fill", "linalg.map"];

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(function) {
        if let Some(loops) = Loops::of(op) {
            loops.collapse().map_err(|error| PassError::at(&op, error))?;
        }
    }
    Ok(())
}

/// An operation on buffers of static sizes, all of whose loops are parallel.
struct Loops<'c> {
    op: Op<'c>,
    /// Iterator types of the loops: parallel or reduction.
    kinds: Vec<Attribute<'c>>,
    /// The operands, and the index of each of their dimensions.
    operands: Vec<(Val<'c>, Vec<Aff>)>,
}

impl<'c> Loops<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let name = ir::op_name(op);
        let is_generic = name == "linalg.generic";
        if !(is_generic || DIMENSION_WISE.contains(&name)) || !ir::results(op).is_empty() {
            return None;
        }
        if edit::walk(op).into_iter().any(|inner| ir::op_name(inner) == "linalg.index") {
            return None;
        }
        let values = ir::operands(op);
        let (kinds, maps) = if is_generic {
            let kinds = edit::array(op.attribute("iterator_types").ok()?);
            let maps = edit::array(op.attribute("indexing_maps").ok()?);
            (kinds, maps.into_iter().map(Aff::of_map).collect::<Option<Vec<_>>>()?)
        } else {
            let rank = ir::dims(values.last()?.r#type()).len();
            let map = |value: &Val<'c>| match ir::is_memref(value.r#type()) {
                true => identity(rank),
                false => vec![],
            };
            (vec![kind_of(op, "parallel")?; rank], values.iter().map(map).collect())
        };
        (maps.len() == values.len()).then(|| Self {
            op,
            kinds,
            operands: values.into_iter().zip(maps).collect(),
        })
    }

    /// True if a loop and the next one may be collapsed.
    fn is_one_with_next(&self, at: usize) -> bool {
        self.kinds[at] == self.kinds[at + 1] && self.operands.iter().all(|(value, map)| {
            let uses = |at: usize| (0..map.len()).filter(move |place| map[*place].has(at));
            let (own, next): (Vec<_>, Vec<_>) = (uses(at).collect(), uses(at + 1).collect());
            match (&own[..], &next[..]) {
                ([], []) => true,
                (&[place], &[other]) => {
                    other == place + 1
                        && map[place].single() == Some(at)
                        && map[other].single() == Some(at + 1)
                        && has_no_gap(value.r#type(), place)
                }
                _ => false,
            }
        })
    }

    /// Makes one loop of each run of loops that may be.
    fn collapse(&self) -> Result<()> {
        // The new loop of each old one.
        let mut to: Vec<usize> = vec![];
        for at in 0..self.kinds.len() {
            to.push(match to.last() {
                None => 0,
                Some(last) => last + usize::from(!self.is_one_with_next(at - 1)),
            });
        }
        let count = to.last().map_or(0, |last| last + 1);
        if count == self.kinds.len() {
            return Ok(());
        }
        let b = Builder::before(self.op)?;
        let mut maps = vec![];
        for (index, (value, map)) in self.operands.iter().enumerate() {
            let mut groups: Vec<Vec<i64>> = vec![];
            let mut indices: Vec<Aff> = vec![];
            for (place, aff) in map.iter().enumerate() {
                let renamed = aff
                    .renamed(&to)
                    .ok_or_else(|| crate::Error::internal("an index of an unknown loop"))?;
                match groups.last_mut() {
                    Some(group) if aff.single().is_some() && indices.last() == Some(&renamed) => {
                        group.push(place as i64);
                    }
                    _ => {
                        groups.push(vec![place as i64]);
                        indices.push(renamed);
                    }
                }
            }
            if groups.len() < map.len() {
                edit::set_operand(self.op, index, collapsed(&b, *value, &groups)?)?;
            }
            maps.push(map_attr(b.context, count, &indices));
        }
        if ir::op_name(self.op) == "linalg.generic" {
            let kinds: Vec<_> = (0..count)
                .filter_map(|new| to.iter().position(|loop_of| *loop_of == new))
                .map(|first| self.kinds[first])
                .collect();
            let array = |list: &[Attribute<'c>]| ArrayAttribute::new(b.context, list).into();
            edit::set_attr(self.op, "indexing_maps", array(&maps));
            edit::set_attr(self.op, "iterator_types", array(&kinds));
        }
        Ok(())
    }
}

fn kind_of<'c>(op: Op<'c>, kind: &str) -> Option<Attribute<'c>> {
    Attribute::parse(ir::context_of(op), &format!("#linalg.iterator_type<{kind}>"))
}

/// True if a dimension of a buffer is contiguous with the one behind it.
fn has_no_gap(ty: Type<'_>, place: usize) -> bool {
    let (Some(dims), Some(strides)) = (ir::static_dims(ty), memref::static_strides(ty)) else {
        return false;
    };
    strides[place] == strides[place + 1] * dims[place + 1]
}

/// The view of a buffer that has one dimension for each group of them.
fn collapsed<'c>(b: &Builder<'c>, value: Val<'c>, groups: &[Vec<i64>]) -> Result<Val<'c>> {
    let ty = value.r#type();
    let dims = ir::dims(ty);
    let (strides, offset) = memref::strides(ty)
        .ok_or_else(|| crate::Error::internal("a buffer without strides is collapsed"))?;
    let (mut sizes, mut steps) = (vec![], vec![]);
    for group in groups {
        sizes.push(group.iter().map(|place| dims[*place as usize]).product());
        // As upstream infers it: the last dimension that is not 1.
        let moving = group.iter().rev().find(|place| dims[**place as usize] != 1);
        let last = moving.or(group.first()).copied().unwrap_or(0);
        steps.push(strides[last as usize]);
    }
    let ty = memref::reshaped(b.context, ty, &sizes, (&steps, offset))?;
    let lists: Vec<Attribute<'c>> = groups.iter().map(|group| b.parse_attr(&format!("{group:?}")))
        .collect::<Result<_>>()?;
    let attributes = vec![("reassociation", ArrayAttribute::new(b.context, &lists).into())];
    b.op1_with("memref.collapse_shape", &[value], ty, attributes)
}
