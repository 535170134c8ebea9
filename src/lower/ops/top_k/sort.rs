//! Rows of which much is kept are sorted whole, digit by digit from the lowest one (radix sort by counting, Knuth, The
//! Art of Computer Programming 3, 5.2.5). It has no branch that depends on elements, and equal ones stay as they were.
//! Elements are sorted by integers that are ordered as they are.

use super::Row;
use crate::{
    Result,
    ir::{self, Builder, Val, integer_width},
    lower::{
        loops::{alone, count_to, insert},
        scalar::widen,
        shape::extract,
    },
};
use melior::ir::{Type, ValueLike};

/// Bits of a digit.
const DIGIT: i64 = 8;
/// Values of a digit.
const DIGITS: i64 = 1 << DIGIT;

/// True if sorting rows of `size` elements, of which the best `kept` are wanted, takes less time
/// than putting those into their places one by one. The times are nanoseconds that were measured on
/// an EPYC 7003.
pub fn pays(element: Type<'_>, size: i64, kept: i64) -> bool {
    const TURN: f64 = 600.0;
    const SORTED: f64 = 2.5;
    const PLACED: f64 = 60.0;
    const MOVED: f64 = 0.15;
    // A number of an element has 32 bits while rows are sorted.
    if kept <= super::FEW || size > i64::from(i32::MAX) {
        return false;
    }
    let turns = f64::from(key_bits(element)) / DIGIT as f64;
    let (size, kept) = (size as f64, kept as f64);
    // The expected number of elements of a random row that are among the best of those before them.
    let better = kept * (1.0 + (size / kept).ln());
    turns * (TURN + size * SORTED) < better * (PLACED + kept * MOVED)
}

/// Bits of the integers that elements are sorted by.
fn key_bits(element: Type<'_>) -> u32 {
    let wide = ir::types::bits(element).is_some_and(|bits| bits > 32);
    if wide { 64 } else { 32 }
}

/// The tensors that rows of `x` are sorted in: keys and numbers of elements, both twice, and a number for each digit.
pub fn memory<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Vec<Val<'c>>> {
    let dims = ir::dims(x.r#type());
    let key = b.int(key_bits(ir::element_type(x.r#type())));
    let number = b.int(32);
    let counts = [&dims[..dims.len() - 1], &[DIGITS]].concat();
    let rows = [key, number, key, number].map(|ty| b.empty(b.tensor(&dims, ty)));
    rows.into_iter().chain([b.empty(b.tensor(&counts, number))]).collect()
}

/// Keys of elements and the numbers of these.
#[derive(Clone, Copy)]
struct Items<'c> {
    keys: Val<'c>,
    numbers: Val<'c>,
}

impl<'c> Items<'c> {
    fn of(state: &[Val<'c>]) -> Self {
        Self { keys: state[0], numbers: state[1] }
    }

    fn write(self, b: &Builder<'c>, item: [Val<'c>; 2], at: &[Val<'c>]) -> Result<Vec<Val<'c>>> {
        Ok(vec![insert(b, item[0], self.keys, at)?, insert(b, item[1], self.numbers, at)?])
    }
}

impl<'c> Row<'c> {
    /// Sorts the row of `size` elements; the state is the best, their numbers, and [`memory`].
    pub(super) fn sort(
        &self,
        b: &Builder<'c>,
        size: i64,
        state: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let (best, memory) = state.split_at(2);
        let items = count_to(b, b.index(size)?, &memory[..2], |b, index, items| {
            let at = self.at(index);
            let number = b.op1("arith.index_cast", &[index], b.int(32))?;
            let key = self.key(b, extract(b, self.x, &at)?)?;
            Items::of(items).write(b, [key, number], &at)
        })?;
        alone(&items);
        // A turn is two digits, so that items are in the same memory again.
        let key = ir::element_type(memory[0].r#type());
        let turns = i64::from(integer_width(key).unwrap_or(64)) / (2 * DIGIT);
        let memory = [&items[..], &memory[2..]].concat();
        let memory = count_to(b, b.index(turns)?, &memory, |b, turn, state| {
            let one = Items::of(state);
            let turn = b.op1("arith.index_cast", &[turn], key)?;
            let shift = b.binary("arith.muli", turn, b.constant_int(key, 2 * DIGIT)?)?;
            let there = self.turn(b, size, shift, one, &state[2..])?;
            let shift = b.binary("arith.addi", shift, b.constant_int(key, DIGIT)?)?;
            let back = [one.keys, one.numbers, there[2]];
            let back = self.turn(b, size, shift, Items::of(&there), &back)?;
            Ok([&back[..2], &there[..2], &back[2..]].concat())
        })?;
        alone(&memory);
        let best = count_to(b, b.index(self.kept)?, best, |b, index, best| {
            let at = self.at(index);
            let number = extract(b, memory[1], &at)?;
            let from = b.op1("arith.index_castui", &[number], b.index_type())?;
            let value = extract(b, self.x, &self.at(from))?;
            let number = b.op1("arith.extui", &[number], b.int(64))?;
            Ok(vec![insert(b, value, best[0], &at)?, insert(b, number, best[1], &at)?])
        })?;
        alone(&best);
        Ok([best, memory].concat())
    }

    /// The integer, without a sign, that is less the better an element is. That of NaN is the one beyond infinity.
    fn key(&self, b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
        let ty = b.int(key_bits(x.r#type()));
        let bits = i64::from(key_bits(x.r#type()));
        let sign = b.constant_int(ty, if bits == 64 { i64::MIN } else { i64::from(i32::MIN) })?;
        let ones = b.constant_int(ty, -1)?;
        let x = widen(b, x)?;
        let key = if ir::is_float(x.r#type()) {
            // Both zeros are equal.
            let zero = b.constant(x.r#type(), 0.0)?;
            let code = b.op1("arith.bitcast", &[b.binary("arith.addf", x, zero)?], ty)?;
            let negative = b.binary("arith.shrsi", code, b.constant_int(ty, bits - 1)?)?;
            let key = b.binary("arith.xori", code, b.binary("arith.ori", negative, sign)?)?;
            b.select(b.cmpf("uno", x, x)?, ones, key)?
        } else {
            let narrow = x.r#type() != ty;
            let extend = if self.order.unsigned { "arith.extui" } else { "arith.extsi" };
            let key = if narrow { b.op1(extend, &[x], ty)? } else { x };
            if self.order.unsigned { key } else { b.binary("arith.xori", key, sign)? }
        };
        if self.order.largest { b.binary("arith.xori", key, ones) } else { Ok(key) }
    }

    /// Orders items by the digit at `shift`; `to` are the tensors that they go to, and the digits' numbers.
    fn turn(
        &self,
        b: &Builder<'c>,
        size: i64,
        shift: Val<'c>,
        from: Items<'c>,
        to: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let (one, none) = (b.constant_int(b.int(32), 1)?, b.constant_int(b.int(32), 0)?);
        let size = b.index(size)?;
        let digit = |b: &Builder<'c>, key: Val<'c>| {
            let low = b.constant_int(key.r#type(), DIGITS - 1)?;
            let digit = b.binary("arith.andi", b.binary("arith.shrui", key, shift)?, low)?;
            b.op1("arith.index_castui", &[digit], b.index_type()).map(|digit| self.at(digit))
        };
        let counts = count_to(b, b.index(DIGITS)?, &to[2..], |b, digit, counts| {
            Ok(vec![insert(b, none, counts[0], &self.at(digit))?])
        })?;
        let counts = count_to(b, size, &counts, |b, index, counts| {
            let digit = digit(b, extract(b, from.keys, &self.at(index))?)?;
            let count = b.binary("arith.addi", extract(b, counts[0], &digit)?, one)?;
            Ok(vec![insert(b, count, counts[0], &digit)?])
        })?;
        // The numbers of items of a digit become the place of the first of them.
        let state = [counts[0], none];
        let places = count_to(b, b.index(DIGITS)?, &state, |b, digit, state| {
            let at = self.at(digit);
            let count = extract(b, state[0], &at)?;
            let next = b.binary("arith.addi", state[1], count)?;
            Ok(vec![insert(b, state[1], state[0], &at)?, next])
        })?;
        let state = [to[0], to[1], places[0]];
        count_to(b, size, &state, |b, index, state| {
            let at = self.at(index);
            let item = [extract(b, from.keys, &at)?, extract(b, from.numbers, &at)?];
            let digit = digit(b, item[0])?;
            let place = extract(b, state[2], &digit)?;
            let next = insert(b, b.binary("arith.addi", place, one)?, state[2], &digit)?;
            let place = b.op1("arith.index_castui", &[place], b.index_type())?;
            let mut written = Items::of(state).write(b, item, &self.at(place))?;
            written.push(next);
            Ok(written)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::pays;
    use crate::Session;
    use melior::ir::r#type::IntegerType;

    #[test]
    fn much_of_a_row_is_sorted() {
        let session = Session::new();
        let pays = |size, kept| {
            pays(IntegerType::new(session.context(), 32).into(), size, kept)
        };
        assert!(pays(50257, 50257) && pays(1000, 1000) && pays(8400, 300));
        assert!(!pays(1_000_000, 70) && !pays(50257, 50) && !pays(64, 64));
    }
}
