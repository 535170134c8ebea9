//! The words that the block of constants is made of, for machines that have the bytes of a word in the other
//! order.

use crate::{
    Result,
    ir::{self, Op, edit, names::CONSTANT_WORDS, size},
};
use bytes::Bytes;
use melior::ir::{Type, attribute::DenseI64ArrayAttribute, operation::OperationLike};

/// Bytes of the words that an element is made of: one number, or each of the two of a complex one. What is several
/// numbers in a byte is bytes.
fn word(element: Type<'_>) -> u64 {
    let bytes = size::element_bytes(element).unwrap_or(1);
    let text = element.to_string();
    match () {
        () if text.starts_with("vector<") => 1,
        () if text.starts_with("complex<") => bytes / 2,
        () => bytes,
    }
}

/// Bytes of the words of a `memref.global`'s elements.
pub fn of_global(global: Op<'_>) -> u64 {
    let ty = global.attribute("type").ok().and_then(ir::attribute::held_type);
    ty.map_or(1, |ty| word(ir::element_type(ty)))
}

/// Notes on a module which bytes of its constants are words of more than one byte, of parts given by begin, end and
/// bytes of a word. What is between two of a kind is padding.
pub fn record(module: Op<'_>, mut parts: Vec<[u64; 3]>) {
    parts.sort_unstable();
    let mut runs: Vec<[u64; 3]> = vec![];
    for [begin, end, word] in parts.into_iter().filter(|[begin, end, _]| begin < end) {
        match runs.last_mut() {
            Some([_, last, same]) if *same == word => *last = end,
            _ => runs.push([begin, end, word]),
        }
    }
    let numbers: Vec<i64> =
        runs.into_iter().filter(|run| run[2] > 1).flatten().map(|number| number as i64).collect();
    if !numbers.is_empty() {
        let list = DenseI64ArrayAttribute::new(ir::context_of(module), &numbers);
        edit::set_attr(module, CONSTANT_WORDS, list.into());
    }
}

/// The constants of a module as a big-endian machine has them.
pub fn swapped(module: Op<'_>, constants: &Bytes) -> Result<Bytes> {
    let runs = ir::attr_i64s(module, CONSTANT_WORDS).unwrap_or_default();
    swap(constants, &runs)
}

fn swap(constants: &Bytes, runs: &[i64]) -> Result<Bytes> {
    let mut bytes = constants.to_vec();
    for run in runs.chunks_exact(3) {
        let [begin, end, word] = [run[0] as usize, run[1] as usize, run[2] as usize];
        let part = bytes.get_mut(begin..end).filter(|part| word > 0 && part.len() % word == 0);
        let part = part.ok_or_else(|| {
            crate::Error::invalid(format!(
                "{CONSTANT_WORDS} of the module names bytes {begin} to {end} in words of {word}, of {} bytes of constants",
                constants.len()
            ))
        })?;
        part.chunks_exact_mut(word).for_each(<[u8]>::reverse);
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_turned_around_and_bytes_are_not() {
        let bytes = Bytes::from_iter(0..16_u8);
        let found = swap(&bytes, &[2, 6, 2, 8, 16, 8]).expect("fits");
        assert_eq!(found[..], [0, 1, 3, 2, 5, 4, 6, 7, 15, 14, 13, 12, 11, 10, 9, 8]);
        assert!(swap(&bytes, &[8, 24, 8]).is_err());
        assert!(swap(&bytes, &[8, 14, 4]).is_err());
    }

    #[test]
    fn complex_numbers_are_two_words() {
        let context = melior::Context::new();
        let of = |text| word(Type::parse(&context, text).expect("a type"));
        let found =
            ["f16", "i64", "complex<f32>", "complex<f64>", "vector<2xi4>", "i4", "i1"].map(of);
        assert_eq!(found, [2, 8, 4, 8, 1, 1, 1]);
    }
}
