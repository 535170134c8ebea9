//! Layouts that a function wants its tensors in.

use crate::pattern::{
    error::PatternResult,
    token::{Token, Tokens},
};
use std::fmt;

/// A permutation of a tensor's dimensions: dimension `i` for the call is dimension
/// `permutation[i]` in the graph, as in numpy's `transpose`.
///
/// Named layouts are permutations of `ncdhw` for images and of `oidhw` for weights, without the
/// letters that they lack: `nhwc` is `[0, 2, 3, 1]`, `ohwi` too, `hwio` is `[2, 3, 1, 0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The permutation.
    pub permutation: Vec<usize>,
    name: Option<String>,
}

impl Layout {
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

    /// Reads what follows `as`.
    pub(super) fn parse(tokens: &mut Tokens) -> PatternResult<Self> {
        let span = tokens.span();
        if !tokens.eat("[") {
            let (name, span) = tokens.expect_name("a layout, such as nhwc or [0, 2, 3, 1]")?;
            return Self::named(&name).ok_or_else(|| {
                let message = format!(
                    "'{name}' is no layout; write letters of ncdhw or oidhw, or a permutation such \
                     as [1, 0]"
                );
                tokens.error_at(span, message)
            });
        }
        let mut permutation = vec![];
        while !tokens.eat("]") {
            match tokens.take() {
                Token::Int(dim) => permutation.push(usize::try_from(dim).unwrap_or(usize::MAX)),
                _ => return Err(tokens.error("expected a dimension's number")),
            }
            if !tokens.is_at(0, "]") {
                tokens.expect(",", "or ']' after a dimension")?;
            }
        }
        let layout = Self { permutation, name: None };
        if layout.is_permutation() {
            return Ok(layout);
        }
        Err(tokens.error_at(span, "this is no permutation: each dimension occurs once, from 0"))
    }
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
        let of = |name| Layout::named(name).map(|layout| layout.permutation);
        assert_eq!(of("nhwc"), Some(vec![0, 2, 3, 1]));
        assert_eq!(of("hwio"), Some(vec![2, 3, 1, 0]));
        assert_eq!(of("ihwo"), Some(vec![1, 2, 3, 0]));
        assert_eq!(of("nwc"), Some(vec![0, 2, 1]));
        assert_eq!(of("nhwx"), None);
        assert_eq!(of("nhwcc"), None);
    }

    #[test]
    fn the_inverse_undoes() {
        assert_eq!(inverse(&[2, 3, 1, 0]), [3, 2, 0, 1]);
    }
}
