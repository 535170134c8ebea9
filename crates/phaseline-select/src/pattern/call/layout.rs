//! Layouts that a function wants its tensors in.

use crate::expr::{
    Expr, PatternResult,
    parse::postfix,
    token::{Token, Tokens},
};
use std::fmt;

/// Layout in which a function takes a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// `nhwc`, `[1, 0]`: its dimensions in another order.
    Permuted(Permutation),
    /// `flat`: all elements in one dimension.
    Flat,
    /// `[0/8, 1, 0%8]`: dimensions cut into blocks.
    Blocked(Vec<BlockPart>),
    /// `given`: any of the others, the same for all of a call that say so, with its buffer in one dimension.
    Given,
}

/// A dimension in blocks. Blocks of inputs that are not full are filled with zeros.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockPart {
    /// `1`: a dimension as it is.
    Whole(usize),
    /// `0/8`: the block of a dimension.
    Outer(usize, Expr),
    /// `0%8`: the place in a block.
    Inner(usize, Expr),
}

/// A permutation of a tensor's dimensions: dimension `i` for the call is dimension
/// `permutation[i]` in the graph, as in numpy's `transpose`.
///
/// Named layouts are permutations of `ncdhw` for images and of `oidhw` for weights, without the
/// letters that they lack: `nhwc` is `[0, 2, 3, 1]`, `ohwi` too, `hwio` is `[2, 3, 1, 0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    /// The permutation.
    pub permutation: Vec<usize>,
    name: Option<String>,
}

impl Permutation {
    /// The layout of a name; none if letters are unknown or occur twice.
    pub fn named(name: &str) -> Option<Self> {
        let order = if name.contains('o') { "oidhw" } else { "ncdhw" };
        let graph: Vec<char> = order.chars().filter(|letter| name.contains(*letter)).collect();
        let permutation: Vec<usize> = name
            .chars()
            .map(|letter| graph.iter().position(|other| *other == letter))
            .collect::<Option<_>>()?;
        let layout = Self { permutation, name: Some(name.to_owned()) };
        layout.is_permutation().then_some(layout)
    }

    /// A permutation without a name.
    pub fn of(permutation: Vec<usize>) -> Self {
        Self { permutation, name: None }
    }

    /// The permutation that undoes this one.
    pub fn inverse(&self) -> Vec<usize> {
        inverse(&self.permutation)
    }

    /// True if nothing moves.
    pub fn is_identity(&self) -> bool {
        self.permutation.iter().enumerate().all(|(place, dim)| place == *dim)
    }

    fn is_permutation(&self) -> bool {
        let mut sorted = self.permutation.clone();
        sorted.sort_unstable();
        !sorted.is_empty() && sorted.iter().enumerate().all(|(place, dim)| place == *dim)
    }
}

impl BlockPart {
    /// The dimension in the graph.
    pub fn dim(&self) -> usize {
        match self {
            Self::Whole(dim) | Self::Outer(dim, _) | Self::Inner(dim, _) => *dim,
        }
    }

    /// The size of the blocks.
    pub fn block(&self) -> Option<&Expr> {
        match self {
            Self::Whole(_) => None,
            Self::Outer(_, block) | Self::Inner(_, block) => Some(block),
        }
    }
}

impl Layout {
    /// Reads what follows `as`.
    pub(super) fn parse(tokens: &mut Tokens) -> PatternResult<Self> {
        let span = tokens.span();
        if !tokens.eat("[") {
            let (name, span) = tokens.expect_name("a layout, such as nhwc or [0, 2, 3, 1]")?;
            match name.as_str() {
                "flat" => return Ok(Self::Flat),
                "given" => return Ok(Self::Given),
                _ => {}
            }
            return Permutation::named(&name).map(Self::Permuted).ok_or_else(|| {
                let message = format!(
                    "'{name}' is no layout; write letters of ncdhw or oidhw, flat, given, a \
                     permutation such as [1, 0], or blocks such as [0/8, 1, 0%8]"
                );
                tokens.error_at(span, message)
            });
        }
        let mut parts = vec![];
        while !tokens.eat("]") {
            parts.push(part(tokens)?);
            if !tokens.is_at(0, "]") {
                tokens.expect(",", "or ']' after a dimension")?;
            }
        }
        if parts.iter().all(|part| part.block().is_none()) {
            let permutation = parts.iter().map(BlockPart::dim).collect();
            let layout = Permutation { permutation, name: None };
            if layout.is_permutation() {
                return Ok(Self::Permuted(layout));
            }
            let message = "this is no permutation: each dimension occurs once, from 0";
            return Err(tokens.error_at(span, message));
        }
        match is_complete(&parts) {
            true => Ok(Self::Blocked(parts)),
            false => Err(tokens.error_at(
                span,
                "each dimension occurs once, from 0, as it is or as d/B and d%B of one size B",
            )),
        }
    }
}

/// `1`, `0/8` or `0%option.lanes`.
fn part(tokens: &mut Tokens) -> PatternResult<BlockPart> {
    let dim = match tokens.take() {
        Token::Int(dim) => usize::try_from(dim).unwrap_or(usize::MAX),
        _ => return Err(tokens.error("expected a dimension's number")),
    };
    Ok(if tokens.eat("/") {
        BlockPart::Outer(dim, postfix(tokens)?)
    } else if tokens.eat("%") {
        BlockPart::Inner(dim, postfix(tokens)?)
    } else {
        BlockPart::Whole(dim)
    })
}

/// True if the parts have all of each dimension once.
fn is_complete(parts: &[BlockPart]) -> bool {
    let rank = parts.iter().map(BlockPart::dim).max().map_or(0, |dim| dim.saturating_add(1));
    rank <= parts.len()
        && (0..rank).all(|dim| {
            let mut of: Vec<&BlockPart> = parts.iter().filter(|part| part.dim() == dim).collect();
            of.sort_by_key(|part| matches!(part, BlockPart::Inner(..)));
            match of[..] {
                [BlockPart::Whole(_)] => true,
                [BlockPart::Outer(_, a), BlockPart::Inner(_, b)] => a == b,
                _ => false,
            }
        })
}

/// The permutation that undoes another.
pub fn inverse(permutation: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; permutation.len()];
    for (place, dim) in permutation.iter().enumerate() {
        inverse[*dim] = place;
    }
    inverse
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Permuted(layout) => layout.fmt(f),
            Self::Flat => f.write_str("flat"),
            Self::Given => f.write_str("given"),
            Self::Blocked(parts) => {
                let parts: Vec<String> = parts.iter().map(BlockPart::to_string).collect();
                write!(f, "[{}]", parts.join(", "))
            }
        }
    }
}

impl fmt::Display for BlockPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(dim) => write!(f, "{dim}"),
            Self::Outer(dim, block) => write!(f, "{dim}/{block}"),
            Self::Inner(dim, block) => write!(f, "{dim}%{block}"),
        }
    }
}

impl fmt::Display for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "{:?}", self.permutation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_permutations_of_the_graph_s_order() {
        let of = |name| Permutation::named(name).map(|layout| layout.permutation);
        assert_eq!(of("nhwc"), Some(vec![0, 2, 3, 1]));
        assert_eq!(of("hwio"), Some(vec![2, 3, 1, 0]));
        assert_eq!(of("ihwo"), Some(vec![1, 2, 3, 0]));
        assert_eq!(of("nwc"), Some(vec![0, 2, 1]));
        assert_eq!(of("nhwx"), None);
        assert_eq!(of("nhwcc"), None);
    }

    #[test]
    fn blocks_are_read_and_written() {
        let of = |text: &str| Layout::parse(&mut Tokens::new(text).unwrap());
        for text in [
            "[0/8, 1, 2, 3, 0%8]",
            "[1/option.lanes, 0, 1%option.lanes]",
            "flat",
            "given",
            "[1, 0]",
        ] {
            assert_eq!(of(text).unwrap().to_string(), text);
        }
        for text in ["[0/8, 1, 0%4]", "[0/8, 1]", "[0/8, 0%8, 0]", "[2/8, 2%8]", "[0, 0]"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_inverse_undoes() {
        assert_eq!(inverse(&[2, 3, 1, 0]), [3, 2, 0, 1]);
    }
}
