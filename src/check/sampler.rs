//! Seeded choices for the graphs that a target is tried on.

use super::{
    constraints::{Constraint, Constraints},
    draws::{Draw, Draws, Genes},
    judge, narrow,
    operands::Shape,
};
use crate::{
    expr::Expr,
    pattern::{Pattern, tile::Tile},
    targets::TargetInstance,
    tensor::ElementType,
};

/// Chooses sizes, attributes and data. The same seed makes the same choices.
pub struct Sampler {
    draws: Draws,
    /// Operations of the graph in work.
    operations: usize,
    /// Numbers around those in the pattern's conditions, where predicates change their mind.
    corners: Vec<i64>,
    /// Element types of data.
    dtypes: Vec<ElementType>,
    /// Element types of quantized data: those that the conditions name.
    quantized: Vec<ElementType>,
    /// Constraints on each capture.
    constraints: Constraints,
    /// True if the graph under construction follows the constraints wherever it can.
    obedient: bool,
    /// The scale that most values of the graph in work have.
    scale: f32,
    /// True if scales keep sums near the stored results, so that an accumulator off by one shows.
    is_plain: bool,
    /// The element type that data of the graph in work has, as the conditions want it.
    wanted: Option<ElementType>,
    /// True if pattern and target restrict no element types, so that data may have any.
    all_types: bool,
    /// True if sums of 16-bit floats are made in a wider type.
    sums_are_wide: bool,
    /// Type and shape of the first operand of all graphs, and of the graph under construction until
    /// it is made.
    first: Option<Shape>,
    next_first: Option<Shape>,
}

/// Scales of quantized values. None is a sum of powers of two, so that few results lie half way
/// between two integers, where rules of rounding differ.
const SCALES: [f32; 5] = [0.0213, 0.0531, 0.1127, 0.3719, 0.9173];

/// The scale of which that of a product, by that of its result, is about 1.
const PLAIN: f32 = SCALES[4];

/// Sizes are at most this, so that a simulator is done soon.
const MOST: i64 = 64;

/// Sizes that no condition asks for.
const SIZES: [i64; 12] = [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 16, 32];

impl Sampler {
    /// A sampler for a pattern of a target.
    pub fn new(target: &TargetInstance, pattern: &Pattern, seed: u64) -> Self {
        let mut literals = vec![];
        for clause in &pattern.clauses {
            clause.expr.visit(&mut |expr: &Expr| literals.extend(expr.as_int()));
        }
        literals.extend(target.options.values().filter_map(|value| match value {
            crate::expr::OptionValue::Int(number) => Some(*number),
            _ => None,
        }));
        literals.extend(pattern.tile.iter().flat_map(Tile::blocks));
        let around = |n: &i64| [n - 1, *n, n + 1, 2 * n];
        let mut corners: Vec<i64> = literals.iter().flat_map(around).collect();
        corners.retain(|size| (1..=MOST).contains(size));
        corners.sort_unstable();
        corners.dedup();
        let all: String = pattern.clauses.iter().map(|clause| clause.text.as_str()).collect();
        let mut quantized = vec![];
        for (word, dtype) in
            [("i8", ElementType::I8), ("u8", ElementType::U8), ("i16", ElementType::I16)]
        {
            if all.contains(word) {
                quantized.extend([dtype; 4]);
            }
        }
        quantized.extend([ElementType::I8, ElementType::U8]);
        let constraints = Constraints::of(pattern);
        let own = pattern.spec.dtypes.as_ref();
        let types = own.unwrap_or(&target.kind.capabilities.dtypes);
        let is_small = |ty: &ElementType| ty.plain().is_none();
        let mut dtypes = types.clone();
        // Where data may have other types, small ones are those of stored weights.
        if dtypes.iter().any(|ty| !is_small(ty)) {
            dtypes.retain(|ty| !is_small(ty));
        }
        let asked = constraints.types();
        let small = asked.iter().chain(types).copied().filter(is_small);
        quantized.extend(small.flat_map(|ty| [ty; 4]));
        Self {
            draws: Draws::new(seed),
            operations: 0,
            quantized,
            corners,
            dtypes,
            constraints,
            obedient: false,
            scale: SCALES[0],
            is_plain: false,
            wanted: None,
            all_types: types.is_empty(),
            sums_are_wide: judge::sums_are_wide(pattern),
            first: None,
            next_first: None,
        }
    }

    /// Sets the type and sizes of the value that graphs begin with, where they can.
    pub fn begin_with(&mut self, first: Shape) {
        self.first = Some(first);
    }

    /// First operand of the graph under construction; given once.
    pub fn first_operand(&mut self) -> Option<Shape> {
        self.next_first.take()
    }

    /// Starts another graph. Two of three do what the conditions ask for; the others are near
    /// misses of any kind.
    pub fn next_graph(&mut self) {
        self.begin(None);
    }

    /// Starts a graph of these choices.
    pub fn graph_of(&mut self, genes: Genes) {
        self.begin(Some(genes));
    }

    /// The choices of the graph in work.
    pub fn made(&self) -> (Genes, Vec<Draw>) {
        self.draws.made()
    }

    /// Notes an operation of the graph in work.
    pub fn note_operation(&mut self) {
        self.operations += 1;
    }

    /// Number of operations of the graph under construction.
    pub fn operations(&self) -> usize {
        self.operations
    }

    /// A random number that is no choice of a graph's.
    pub fn random(&mut self) -> u64 {
        self.draws.random()
    }

    fn begin(&mut self, genes: Option<Genes>) {
        self.draws.begin(genes);
        self.operations = 0;
        self.obedient = self.chance(66);
        self.next_first = self.first.clone();
        self.scale = self.pick(&SCALES);
        self.is_plain = self.obedient && self.scale == PLAIN;
        let mut types = self.constraints.types();
        if types.iter().any(|ty| ty.plain().is_some()) {
            types.retain(|ty| ty.plain().is_some());
        }
        let follows = !types.is_empty() && self.obedient;
        self.wanted = follows.then(|| self.pick(&types));
    }

    /// Goes to a place within the one in work, and gives that for [`Sampler::leave`].
    pub fn enter(&mut self, part: u64) -> u64 {
        self.draws.enter(part)
    }

    /// The same for a place with a name.
    pub fn enter_named(&mut self, name: &str) -> u64 {
        let part = name.bytes().fold(7, |all: u64, byte| all.wrapping_mul(257) + u64::from(byte));
        self.draws.enter(part)
    }

    /// Goes back to a place.
    pub fn leave(&mut self, outer: u64) {
        self.draws.leave(outer);
    }

    /// Makes many numbers that are one choice together.
    pub fn bulk<R>(&mut self, make: impl FnOnce(&mut Self) -> R) -> R {
        self.draws.begin_bulk();
        let made = make(self);
        self.draws.end_bulk();
        made
    }

    /// True if the pattern promises sums of floats in f32 or f64.
    pub fn sums_are_wide(&self) -> bool {
        self.sums_are_wide
    }

    /// True if constants are at one end of their types.
    pub fn is_full(&self) -> bool {
        self.draws.is_full()
    }

    /// True if an accumulator that is off by one changes the stored result.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Constraint on a field of a capture, or nothing where the graph goes its own way.
    pub fn constraint(&mut self, capture: Option<&str>, field: &str) -> Option<Constraint> {
        let count = self.constraints.get(capture?, field).len();
        let follow = if self.obedient { 97 } else { 50 };
        if count == 0 || !self.chance(follow) {
            return None;
        }
        let place = self.below(count);
        self.constraints.get(capture?, field).get(place).cloned()
    }

    /// The number that the conditions ask for.
    pub fn wished_number(&mut self, capture: Option<&str>, field: &str) -> Option<f64> {
        match self.constraint(capture, field)? {
            Constraint::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The element type that the conditions ask for.
    pub fn wished_type(&mut self, capture: Option<&str>) -> Option<ElementType> {
        match self.constraint(capture, "dtype")? {
            Constraint::Type(dtype) => Some(dtype),
            _ => None,
        }
    }

    /// A scale: often that of the other values of the graph.
    pub fn scale(&mut self) -> f32 {
        if self.is_plain || self.chance(50) { self.scale } else { self.pick(&SCALES) }
    }

    /// One of the scales of channels.
    pub fn channel_scale(&mut self) -> f32 {
        let least = if self.is_plain { 0.6 } else { 0.01 };
        least + self.below(100) as f32 / if self.is_plain { 300.0 } else { 1000.0 }
    }

    /// The greatest magnitude of a bias.
    pub fn bias(&mut self) -> i64 {
        if self.is_plain { 20 } else { self.pick(&[50, 3000]) }
    }

    /// A zero point: often 0, within the element type.
    pub fn zero_point(&mut self, dtype: ElementType) -> i64 {
        let zero = if self.obedient { 60 } else { 50 };
        if self.chance(zero) {
            return 0;
        }
        if dtype.bits() < 8 {
            let zero = self.pick(&[-2, -1, 1, 3]);
            return if zero < 0 { zero } else { zero + dtype.bits() as i64 };
        }
        let small = self.pick(&[-128, -7, 3, 5, 100]);
        if dtype == ElementType::U8 { small + 128 } else { small }
    }

    /// The greatest magnitude of quantized data: small ones keep sums within range.
    pub fn magnitude(&mut self) -> i64 {
        if self.is_plain {
            return 4;
        }
        self.pick(&[4, 20, 127])
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.draws.below(bound)
    }

    /// True in `percent` of cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.draws.chance(percent)
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Constraint on an attribute of an operation, by any of its names.
    pub fn wished_attribute(&mut self, names: &[&str], attribute: &str) -> Option<Constraint> {
        names.iter().find_map(|name| self.constraint(Some(name), attribute))
    }

    /// Numbers of the conditions and those around them.
    pub fn corners(&self) -> &[i64] {
        &self.corners
    }

    /// A size of a dimension: small, or at a corner of the conditions.
    pub fn size(&mut self) -> i64 {
        self.size_up_to(MOST)
    }

    /// The same, as a rule at most this.
    pub fn size_up_to(&mut self, most: i64) -> i64 {
        let corners = &self.corners;
        self.draws.size(|rng| {
            let list =
                if rng.next_u64() % 100 < 50 && !corners.is_empty() { corners } else { &SIZES[..] };
            list[(rng.next_u64() % list.len() as u64) as usize].min(most)
        })
    }

    /// A size, as a rule one of these.
    pub fn size_of(&mut self, list: &[i64]) -> i64 {
        self.draws.size(|rng| list[(rng.next_u64() % list.len().max(1) as u64) as usize])
    }

    /// A small attribute, such as a stride.
    pub fn small(&mut self) -> i64 {
        self.size_of(&[1, 1, 1, 2, 2, 3])
    }

    /// The element type of data, of those that the target has.
    pub fn dtype(&mut self) -> ElementType {
        if let Some(dtype) = self.wanted
            && self.chance(95)
        {
            return dtype;
        }
        if self.all_types {
            let usual = [
                ElementType::F32,
                ElementType::F32,
                ElementType::F32,
                ElementType::F64,
                ElementType::F16,
                ElementType::BF16,
            ];
            let integers = [
                ElementType::I8,
                ElementType::U8,
                ElementType::I16,
                ElementType::I32,
                ElementType::I64,
                ElementType::BOOL,
            ];
            return if self.chance(75) { self.pick(&usual) } else { self.pick(&integers) };
        }
        let list = std::mem::take(&mut self.dtypes);
        let dtype = if list.is_empty() { ElementType::F32 } else { self.pick(&list) };
        self.dtypes = list;
        dtype
    }

    /// An element type of quantized data.
    pub fn quantized(&mut self) -> ElementType {
        // A pattern that does not say is given what networks store weights in.
        if self.all_types && self.chance(6) {
            return self.pick(&narrow::WEIGHTS.map(ElementType::Small));
        }
        let place = self.below(self.quantized.len());
        self.quantized[place]
    }

    /// A seed for a tensor's elements.
    pub fn seed(&mut self) -> u64 {
        self.draws.below(1 << 62) as u64
    }
}
