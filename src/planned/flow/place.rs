//! Places of the buffers of a function, and the bytes of them that an operation means.

use super::range::Range;
use crate::ir::{
    self, Op, Val, edit, effects, func, linalg, memref,
    names::{IO, STATE},
    size, tir, types,
};
use melior::ir::{ValueLike, block::BlockLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};

/// All buffers that loops, branches and calls hand on, of which it is not known which is which.
pub(super) const HANDED_ON: usize = 0;

/// Bytes of a buffer.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The number of the buffer.
    pub root: usize,
    pub range: Range,
}

/// The buffers of a function, by number.
pub(super) struct Roots {
    // Only looked up, so that its order is of no effect.
    numbers: HashMap<ir::Id, usize>,
    globals: HashMap<String, usize>,
    handed_on: HashSet<ir::Id>,
    /// Buffers that contain something from the start.
    pub filled: Vec<usize>,
    next: usize,
}

/// A number as a sum of counters of loops.
struct Sum {
    least: i64,
    most: i64,
    terms: Vec<(usize, i64)>,
}

/// True if an operation gives another name to the bytes of its first operand, and nothing else.
fn is_name(op: Op<'_>) -> bool {
    memref::is_view(op) || ir::op_name(op) == "memref.view"
}

impl Roots {
    pub fn of<'c>(function: Op<'c>, ops: &[Op<'c>]) -> Self {
        let handed_on = HashSet::new();
        let (numbers, globals, filled) = (HashMap::new(), HashMap::new(), vec![HANDED_ON]);
        let mut roots = Self { numbers, globals, handed_on, filled, next: HANDED_ON + 1 };
        for op in ops {
            let is_buffer = |value: &Val<'_>| types::keeps_buffer(value.r#type());
            // Who has results, or gives arguments to regions, may hand on what it is given; ends of regions do.
            let gives = ir::results(*op).iter().any(is_buffer) && !is_name(*op);
            let takes_buffers = op.region_count() > 0 && !linalg::is_structured(*op);
            if gives || effects::hands_on(*op) || takes_buffers {
                let given = ir::operands(*op).into_iter().filter(is_buffer);
                roots.handed_on.extend(given.map(|value| ir::id(base(value))));
            }
        }
        let block = edit::entry_block(function);
        let arguments = block.map(edit::arguments).unwrap_or_default();
        let signature = func::Signature::of(function).map(|signature| signature.arguments);
        // An output has nothing in it that anybody is to read.
        let is_output = |place: usize| {
            let given = signature.as_ref().ok().and_then(|all| all.get(place));
            // That of a state has the old one.
            if given.is_some_and(|(_, given)| given.iter().any(|(name, _)| name == STATE)) {
                return false;
            }
            let role = given.and_then(|(_, given)| given.iter().find(|(name, _)| name == IO));
            role.and_then(|(_, role)| edit::string(*role)).is_some_and(|role| role == "output")
        };
        for (_, argument) in
            arguments.into_iter().enumerate().filter(|(place, _)| !is_output(*place))
        {
            if let Some(number) = roots.number(argument).filter(|number| *number != HANDED_ON) {
                roots.filled.push(number);
            }
        }
        roots
    }

    /// The number of the buffer that a value is a name of.
    pub fn number(&mut self, value: Val<'_>) -> Option<usize> {
        let base = base(value);
        if self.handed_on.contains(&ir::id(base)) {
            return Some(HANDED_ON);
        }
        let maker = edit::defining_op(base);
        if let Some(op) = maker.filter(|op| ir::op_name(*op) == "memref.get_global") {
            let name = func::symbol_ref(op, "name").unwrap_or_default();
            let next = self.next;
            let number = *self.globals.entry(name).or_insert(next);
            if number == next {
                self.filled.push(number);
                self.next += 1;
            }
            return Some(number);
        }
        let is_own = match maker {
            Some(op) => effects::is_own(op) || ir::op_name(op) == tir::Buffer::NAME,
            None => edit::owner_block(base).is_some_and(|(block, _)| {
                block.parent_operation().is_some_and(|op| ir::op_name(op) == "func.func")
            }),
        };
        if !is_own {
            return Some(HANDED_ON);
        }
        let next = self.next;
        let number = *self.numbers.entry(ir::id(base)).or_insert(next);
        self.next += usize::from(number == next);
        Some(number)
    }

    /// The bytes of an operand: of the element at `index`, or of all.
    pub fn place<'c>(
        &mut self,
        value: Val<'c>,
        index: Option<&[Val<'c>]>,
        loops: &HashMap<ir::Id, usize>,
    ) -> Option<Place> {
        let root = self.number(value)?;
        let known = if root == HANDED_ON { None } else { range(value, index, loops) };
        Some(Place { root, range: known.unwrap_or_else(Range::whole) })
    }
}

/// The value that a buffer is a name of, through views and places in a block.
fn base<'c>(mut value: Val<'c>) -> Val<'c> {
    while let Some(op) = edit::defining_op(value).filter(|op| is_name(*op)) {
        match ir::operands(op).first() {
            Some(source) => value = *source,
            None => break,
        }
    }
    value
}

fn range<'c>(
    value: Val<'c>,
    index: Option<&[Val<'c>]>,
    loops: &HashMap<ir::Id, usize>,
) -> Option<Range> {
    let ty = value.r#type();
    let (dims, strides) = (ir::static_dims(ty)?, memref::static_strides(ty)?);
    let element = i64::try_from(size::element_bytes(ir::element_type(ty))?).ok()?;
    let offset = offset(value, loops)?;
    let (mut low, mut high) = (offset.least, offset.most);
    let mut terms = offset.terms;
    let mut dense = low == high;
    let has_gaps = index.is_none() && !is_row_major(&dims, &strides);
    for (dim, (size, stride)) in dims.iter().zip(&strides).enumerate() {
        let last = (size - 1).max(0);
        let known = index.map(|index| index.get(dim).and_then(|at| sum(*at, loops, 0)));
        let (least, most) = match known {
            Some(Some(known)) => {
                dense &= known.least == known.most;
                terms.extend(known.terms.iter().map(|(key, factor)| (*key, factor * stride)));
                (known.least, known.most)
            }
            Some(None) => {
                dense &= last == 0;
                (0, last)
            }
            None => (0, last),
        };
        let (a, b) = (stride.checked_mul(least)?, stride.checked_mul(most)?);
        (low, high) = (low.checked_add(a.min(b))?, high.checked_add(a.max(b))?);
    }
    let block = i64::try_from(shift(value)?).ok()?;
    let bytes = |place: i64| place.checked_mul(element)?.checked_add(block);
    let terms = terms.into_iter().map(|(key, factor)| Some((key, factor.checked_mul(element)?)));
    let terms = merged(terms.collect::<Option<Vec<_>>>()?);
    let mut gaps = vec![];
    if has_gaps {
        for (dim, stride) in dims.iter().zip(&strides).filter(|(dim, _)| **dim != 1) {
            gaps.push((*dim, stride.checked_mul(element)?));
        }
        gaps.push((1, element));
    }
    Some(Range {
        low: bytes(low)?,
        high: bytes(high.checked_add(1)?)?,
        terms,
        strides: gaps,
        dense,
    })
}

/// True if elements follow each other without gaps. The stride of a dimension of one element says nothing.
fn is_row_major(dims: &[i64], strides: &[i64]) -> bool {
    let packed = memref::row_major(dims);
    let mut all = dims.iter().zip(strides.iter().zip(&packed));
    all.all(|(dim, (stride, packed))| *dim == 1 || stride == packed)
}

/// Each loop once, in order.
fn merged(mut terms: Vec<(usize, i64)>) -> Vec<(usize, i64)> {
    terms.sort_unstable();
    terms.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        if is_same {
            first.1 = first.1.saturating_add(next.1);
        }
        is_same
    });
    terms.retain(|(_, factor)| *factor != 0);
    terms
}

/// The first byte of the block that a buffer is in, counted from that of a larger one.
fn shift(mut value: Val<'_>) -> Option<u64> {
    let mut bytes = 0_u64;
    while let Some(op) = edit::defining_op(value).filter(|op| is_name(*op)) {
        let operands = ir::operands(op);
        if ir::op_name(op) == "memref.view" {
            let shift = edit::defining_op(*operands.get(1)?)?;
            bytes = bytes.checked_add(u64::try_from(ir::attr_i64(shift, "value")?).ok()?)?;
        }
        value = *operands.first()?;
    }
    Some(bytes)
}

/// The first element of a view, counted from the buffer that it is one of.
fn offset(value: Val<'_>, loops: &HashMap<ir::Id, usize>) -> Option<Sum> {
    let (_, first) = memref::strides(value.r#type())?;
    if first != ir::DYNAMIC {
        return Some(Sum { least: first, most: first, terms: vec![] });
    }
    let op = edit::defining_op(value)?;
    let operands = ir::operands(op);
    match ir::op_name(op) {
        _ if memref::is_whole(op) => offset(*operands.first()?, loops),
        "memref.subview" => {
            let source = *operands.first()?;
            let mut total = offset(source, loops)?;
            let strides = memref::static_strides(source.r#type())?;
            let mut given = operands.iter().skip(1);
            for (stride, at) in strides.iter().zip(ir::attr_i64s(op, "static_offsets")?) {
                let at = match at == ir::DYNAMIC {
                    true => sum(*given.next()?, loops, 0)?,
                    false => Sum { least: at, most: at, terms: vec![] },
                };
                total.add(at, *stride)?;
            }
            Some(total)
        }
        _ => None,
    }
}

impl Sum {
    /// Adds another one times a number.
    fn add(&mut self, other: Self, factor: i64) -> Option<()> {
        let (a, b) = (other.least.checked_mul(factor)?, other.most.checked_mul(factor)?);
        self.least = self.least.checked_add(a.min(b))?;
        self.most = self.most.checked_add(a.max(b))?;
        for (key, theirs) in other.terms {
            self.terms.push((key, theirs.checked_mul(factor)?));
        }
        Some(())
    }
}

/// Greatest depth to which sums are looked into.
const DEEPEST: usize = 24;

/// An index as a sum of counters of loops that run a known number of times.
fn sum(value: Val<'_>, loops: &HashMap<ir::Id, usize>, depth: usize) -> Option<Sum> {
    if let Some(number) = loops.get(&ir::id(value)) {
        return Some(Sum { least: 0, most: 0, terms: vec![(*number, 1)] });
    }
    let op = edit::defining_op(value).filter(|_| depth < DEEPEST)?;
    let number = |op| ir::attr_i64(op, "value");
    let operands = ir::operands(op);
    let inner = |at: usize| sum(*operands.get(at)?, loops, depth + 1);
    let mut zero = Sum { least: 0, most: 0, terms: vec![] };
    match ir::op_name(op) {
        "arith.constant" => {
            let number = number(op)?;
            (zero.least, zero.most) = (number, number);
        }
        "arith.addi" => {
            zero.add(inner(0)?, 1)?;
            zero.add(inner(1)?, 1)?;
        }
        "arith.subi" => {
            zero.add(inner(0)?, 1)?;
            zero.add(inner(1)?, -1)?;
        }
        "arith.muli" => {
            let (a, b) = (inner(0)?, inner(1)?);
            let (number, other) = if b.terms.is_empty() { (b, a) } else { (a, b) };
            if !number.terms.is_empty() || number.least != number.most {
                return None;
            }
            zero.add(other, number.least)?;
        }
        _ => return None,
    }
    zero.terms = merged(zero.terms);
    Some(zero)
}
