//! Values of inputs as text, and inputs that a model has no more because their values are given.

use super::constants::tensor_from_f64;
use crate::{
    Error, Result,
    artifact::{FixedInput, record_fixed_inputs},
    ir,
    tensor::{DType, Tensor},
};
use indexmap::IndexMap;
use melior::ir::Module;

/// Lists in lists are dimensions, of which no model has more.
const MAX_RANK: usize = 16;

/// Reads a value of that type: a number, or a bracketed list of values of one shape. Booleans are
/// `true` and `false`, or 1 and 0. Floats may be `inf`, `-inf` and `nan`.
///
/// # Errors
/// The text is neither, or a number is not one of the type.
pub fn parse_value(text: &str, dtype: DType) -> Result<Tensor, String> {
    let mut reader = Reader { rest: text.trim_start(), words: vec![] };
    let shape = reader.value(0)?;
    if !reader.rest.is_empty() {
        return Err(format!("unexpected '{}' behind the value", reader.rest));
    }
    tensor(dtype, &shape, &reader.words)
}

/// Reads words and brackets.
struct Reader<'t> {
    rest: &'t str,
    words: Vec<&'t str>,
}

impl<'t> Reader<'t> {
    /// Reads a value; gives its shape.
    fn value(&mut self, depth: usize) -> Result<Vec<usize>, String> {
        if !self.eat('[') {
            let end = self.rest.find([',', '[', ']']).unwrap_or(self.rest.len());
            let (word, rest) = self.rest.split_at(end);
            if word.trim().is_empty() {
                return Err(format!("expected a number or a list at '{}'", self.rest));
            }
            self.words.push(word.trim());
            self.rest = rest;
            return Ok(vec![]);
        }
        if depth == MAX_RANK {
            return Err(format!("lists are nested deeper than {MAX_RANK}"));
        }
        let (mut count, mut inner) = (0, vec![]);
        while !self.eat(']') {
            if count > 0 && !self.eat(',') {
                return Err(format!("expected ',' or ']' at '{}'", self.rest));
            }
            let shape = self.value(depth + 1)?;
            if count > 0 && shape != inner {
                return Err("the parts of a list are not of one shape".to_owned());
            }
            (count, inner) = (count + 1, shape);
        }
        inner.insert(0, count);
        Ok(inner)
    }

    fn eat(&mut self, c: char) -> bool {
        let Some(rest) = self.rest.strip_prefix(c) else { return false };
        self.rest = rest.trim_start();
        true
    }
}

/// The tensor of these numbers.
fn tensor(dtype: DType, shape: &[usize], words: &[&str]) -> Result<Tensor, String> {
    let fault = |word: &str| format!("'{word}' is no number of type {dtype}");
    macro_rules! parsed {
        ($ty:ty) => {{
            let numbers = words.iter().map(|word| word.parse::<$ty>().map_err(|_| fault(word)));
            Tensor::from_slice(shape, &numbers.collect::<Result<Vec<_>, _>>()?)
        }};
    }
    let made = match dtype {
        DType::Bool => {
            let truth = |word: &&str| match *word {
                "true" | "1" => Ok(true),
                "false" | "0" => Ok(false),
                other => Err(fault(other)),
            };
            Tensor::from_slice(shape, &words.iter().map(truth).collect::<Result<Vec<_>, _>>()?)
        }
        DType::I8 => parsed!(i8),
        DType::I16 => parsed!(i16),
        DType::I32 => parsed!(i32),
        DType::I64 => parsed!(i64),
        DType::U8 => parsed!(u8),
        DType::U16 => parsed!(u16),
        DType::U32 => parsed!(u32),
        DType::U64 => parsed!(u64),
        DType::F32 => parsed!(f32),
        DType::F64 => parsed!(f64),
        DType::F16 | DType::BF16 => {
            let numbers = words.iter().map(|word| word.parse::<f64>().map_err(|_| fault(word)));
            tensor_from_f64(dtype, shape, &numbers.collect::<Result<Vec<_>, _>>()?)
        }
    };
    let tensor = made.map_err(|error| error.to_string())?;
    // Numbers that are too large become infinity without a word.
    let is_infinite = |word: &str| word.trim_start_matches(['+', '-']).starts_with(['i', 'I']);
    let values = if dtype.is_float() { tensor.to_f64() } else { vec![] };
    match values.iter().zip(words).find(|(value, word)| value.is_infinite() && !is_infinite(word)) {
        Some((_, word)) => Err(format!("'{word}' is too large for type {dtype}")),
        None => Ok(tensor),
    }
}

/// Records in a module the inputs of its model that are constants there.
pub(crate) fn record(
    module: &Module<'_>,
    constants: &IndexMap<String, Tensor>,
) -> Result<(), Error> {
    if constants.is_empty() {
        return Ok(());
    }
    let fixed =
        constants.iter().map(|(name, tensor)| FixedInput::new(name, tensor)).collect::<Vec<_>>();
    record_fixed_inputs(ir::root(module), &fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_and_lists_of_the_type() {
        let parse =
            |text: &str, dtype| parse_value(text, dtype).unwrap_or_else(|e| panic!("{text}: {e}"));
        let five = parse("5", DType::I64);
        assert_eq!((five.shape(), five.to_i64()), (&[][..], Some(vec![5])));
        let matrix = parse(" [[1, -2,3],[4,5 ,6] ] ", DType::I8);
        assert_eq!((matrix.shape(), matrix.to_i64()), (&[2, 3][..], Some(vec![1, -2, 3, 4, 5, 6])));
        assert_eq!(parse("[]", DType::F32).shape(), [0]);
        assert_eq!(parse("[[],[]]", DType::F32).shape(), [2, 0]);
        assert_eq!(parse("[true,0,1,false]", DType::Bool).to_f64(), [1.0, 0.0, 1.0, 0.0]);
        assert_eq!(
            parse("[1e-3,-inf,65504]", DType::F16).to_f64(),
            [f64::from(half::f16::from_f64(1e-3)), f64::NEG_INFINITY, 65504.0]
        );
        assert!(parse("nan", DType::F32).to_f64()[0].is_nan());
        assert_eq!(parse("18446744073709551615", DType::U64).to_i128(), [i128::from(u64::MAX)]);
        for (text, dtype, part) in [
            ("1.5", DType::I64, "'1.5' is no number of type int64"),
            ("128", DType::I8, "'128' is no number of type int8"),
            ("-1", DType::U8, "'-1' is no number of type uint8"),
            ("2", DType::Bool, "'2' is no number of type bool"),
            ("x", DType::F32, "'x' is no number of type float32"),
            ("1e39", DType::F32, "'1e39' is too large for type float32"),
            ("70000", DType::F16, "'70000' is too large"),
            ("[1,[2]]", DType::I64, "not of one shape"),
            ("[[1],[2,3]]", DType::I64, "not of one shape"),
            ("[1,2", DType::I64, "expected ',' or ']' at ''"),
            ("[1]]", DType::I64, "unexpected ']' behind the value"),
            ("[1 [2]]", DType::I64, "expected ',' or ']' at '[2]]'"),
            ("[,1]", DType::I64, "expected a number or a list at ',1]'"),
            ("", DType::I64, "expected a number or a list at ''"),
        ] {
            let error = parse_value(text, dtype).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(
            parse_value(&"[".repeat(100_000), DType::I64).unwrap_err().contains("nested deeper")
        );
    }
}
