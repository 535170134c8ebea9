//! Options of the import of a model.

use super::Source;
use crate::{targets::Operators, tensor::Tensor};
use indexmap::IndexMap;
use phaseline_base::size::{Symbol, Variants};

/// Options for the importer of a model.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Shapes of inputs, for dimensions that the model leaves open; `None` keeps one open.
    pub shapes: IndexMap<String, Vec<Option<i64>>>,
    /// Sizes of dimensions by name: the model's own names, and `INPUT.AXIS` for open dimensions without one. A range leaves
    /// the size to a run.
    pub symbols: IndexMap<String, Symbol>,
    /// Inputs of a few integers whose elements are sizes: numbers, and ranges that leave the value to a run.
    pub elements: IndexMap<String, Vec<Symbol>>,
    /// Parts of these ranges that get code of their own.
    pub variants: Variants,
    /// Inputs that become constants of these values, and are no inputs any more.
    pub constants: IndexMap<String, Tensor>,
    /// Loops of up to this many steps are unrolled: recurrent layers, Scan and Loop. 2 if not
    /// given; 0 unrolls only what cannot be a loop.
    pub unroll_loops: Option<i64>,
    /// The operators of vendors that targets declare.
    pub operators: Operators,
}

impl ImportOptions {
    /// Lets values of inputs, by name, fix the shapes of the model's inputs; those that decide on
    /// shapes inside become constants. Gives the names of these.
    ///
    /// # Errors
    /// The model's graph is damaged.
    pub fn fix(
        &mut self,
        source: &dyn Source,
        given: &IndexMap<String, Tensor>,
    ) -> crate::Result<Vec<String>> {
        self.fix_shapes(given);
        let mut fixed = vec![];
        for name in source.shape_inputs()? {
            if let Some(tensor) = given.get(&name)
                && !self.constants.contains_key(&name)
            {
                self.constants.insert(name.clone(), tensor.clone());
                fixed.push(name);
            }
        }
        Ok(fixed)
    }

    /// Lets values of inputs, by name, fix the shapes of the model's inputs, and nothing else.
    pub fn fix_shapes(&mut self, given: &IndexMap<String, Tensor>) {
        for (name, tensor) in given {
            let dims = tensor.shape().iter().map(|dim| Some(*dim as i64)).collect();
            self.shapes.insert(name.clone(), dims);
        }
    }
}

/// A value of `--shape`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeOption {
    /// The dimensions of an input, or the size of a dimension with that name; `None` for one that stays open.
    Dims(Vec<Option<i64>>),
    /// The range of a dimension with that name.
    Range(Symbol),
}

/// Parses `name=1x3x224x224` or `name=1..32`, the values of `--shape`.
///
/// # Errors
/// The text is neither.
pub fn parse_size_option(text: &str) -> Result<(String, ShapeOption), String> {
    match text.rsplit_once('=') {
        Some((name, range)) if range.contains("..") && !name.is_empty() => {
            Ok((name.to_owned(), ShapeOption::Range(Symbol::parse(name, range)?)))
        }
        _ => parse_shape_option(text).map(|(name, dims)| (name, ShapeOption::Dims(dims))),
    }
}

/// Parses `name=1x3x224x224`, the value of `--shape`. A dimension `?` stays open; nothing after
/// the `=` is the shape of a scalar.
pub fn parse_shape_option(text: &str) -> Result<(String, Vec<Option<i64>>), String> {
    let malformed =
        || format!("`{text}` is not a shape, expected an input and its dimensions: x=1x3x224x224");
    let (name, dims) = text.rsplit_once('=').ok_or_else(malformed)?;
    let parse = |dim: &str| match dim.trim() {
        "?" => Ok(None),
        number => number.parse().ok().filter(|n| *n >= 0).map(Some).ok_or_else(malformed),
    };
    if name.is_empty() {
        return Err(malformed());
    }
    let dims = match dims.trim() {
        "" => Vec::new(),
        dims => dims.split(['x', ',']).map(parse).collect::<Result<_, _>>()?,
    };
    Ok((name.to_string(), dims))
}
