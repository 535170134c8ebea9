//! Equations of einsum.

/// Labels of an einsum: letters by their code, dimensions of `...` from [`ELLIPSIS`] on,
/// counted from the last.
pub struct Equation {
    /// A label for each dimension of each operand.
    pub operands: Vec<Vec<u32>>,
    /// A label for each dimension of the result.
    pub result: Vec<u32>,
}

/// The label of the last dimension of `...`.
pub const ELLIPSIS: u32 = 0x11_0000;

impl Equation {
    /// Reads an equation for operands of these ranks; `None` if it has no meaning for them.
    pub fn parse(text: &str, ranks: &[usize]) -> Option<Self> {
        let text: String = text.chars().filter(|char| !char.is_whitespace()).collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text.as_str(), None),
        };
        let terms: Vec<_> = left.split(',').collect();
        if terms.len() != ranks.len() {
            return None;
        }
        let operands: Vec<_> = terms
            .iter()
            .zip(ranks)
            .map(|(term, rank)| labels(term, *rank))
            .collect::<Option<_>>()?;
        let all = || operands.iter().flatten().copied();
        let broadcast = all().filter(|label| *label >= ELLIPSIS).max();
        let ellipsis: Vec<u32> = broadcast.map_or(vec![], |top| (ELLIPSIS..=top).rev().collect());
        let result = match right {
            Some(term) => labels(term, letters(term) + ellipsis.len())?,
            None => {
                let mut once: Vec<u32> = all()
                    .filter(|label| *label < ELLIPSIS && all().filter(|l| l == label).count() == 1)
                    .collect();
                once.sort_unstable();
                [ellipsis, once].concat()
            }
        };
        Some(Self { operands, result })
    }
}

fn letters(term: &str) -> usize {
    term.chars().filter(|char| *char != '.').count()
}

/// The labels of a term for a tensor of rank `rank`; `...` stands for what letters leave.
fn labels(term: &str, rank: usize) -> Option<Vec<u32>> {
    let code = |text: &str| text.chars().map(|char| char as u32).collect::<Vec<_>>();
    let Some((before, after)) = term.split_once("...") else {
        return (letters(term) == rank).then(|| code(term));
    };
    let hidden = rank.checked_sub(letters(term))? as u32;
    let middle: Vec<u32> = (0..hidden).rev().map(|i| ELLIPSIS + i).collect();
    Some([code(before), middle, code(after)].concat())
}

#[cfg(test)]
mod tests {
    use super::{ELLIPSIS, Equation};

    #[test]
    fn equations_without_arrow_name_letters_that_occur_once() {
        let equation = Equation::parse("ij, jk", &[2, 2]).expect("valid");
        assert_eq!(equation.result, ['i' as u32, 'k' as u32]);
    }

    #[test]
    fn dots_align_at_the_last_dimension() {
        let equation = Equation::parse("...ij,jk->...ik", &[4, 2]).expect("valid");
        assert_eq!(equation.operands[0][..2], [ELLIPSIS + 1, ELLIPSIS]);
        assert_eq!(equation.result[..2], [ELLIPSIS + 1, ELLIPSIS]);
        assert!(Equation::parse("ij->i", &[3]).is_none());
    }
}
