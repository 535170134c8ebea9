//! The dimensions of a reshaped tensor.

use super::Dim;
use crate::{Error, Result};
use phaseline_base::size::{Size, Symbol};

/// The sizes of dimensions in a row.
fn factors<'d>(dims: impl IntoIterator<Item = &'d Dim>) -> Vec<Size> {
    let all = dims.into_iter().flat_map(|dim| dim.sizes().iter().cloned());
    all.filter(|size| size.known() != Some(1)).collect()
}

/// Dimensions of a tensor of dimensions `from` after a reshape to `target`. One of these may be -1.
///
/// # Errors
/// The elements that count would not be the first ones along the new dimensions.
pub(super) fn reshaped(from: &[Dim], target: &[Size], symbols: &[Symbol]) -> Result<Vec<Dim>> {
    let mut left = factors(from);
    let open = target.iter().position(|size| size.known() == Some(-1));
    let (before, after) = match open {
        Some(open) => (&target[..open], &target[open + 1..]),
        None => (target, &[][..]),
    };
    let refuse = || {
        let shown = |sizes: &[Size]| {
            sizes.iter().map(|size| size.text(symbols)).collect::<Vec<_>>().join(", ")
        };
        let from: Vec<_> = from.iter().map(|dim| dim.text(symbols)).collect();
        Error::invalid(format!(
            "reshapes [{}] to [{}], which divides or joins sizes that are known at run time in a way that buffers for \
             the greatest sizes do not have",
            from.join(", "),
            shown(target)
        ))
    };
    let mut dims = vec![];
    for size in before {
        dims.push(Dim::product(take_first(&mut left, size).ok_or_else(refuse)?));
    }
    let mut last = vec![];
    for size in after.iter().rev() {
        last.push(Dim::product(take_last(&mut left, size).ok_or_else(refuse)?));
    }
    if open.is_some() {
        dims.push(Dim::product(left));
    } else if !left.is_empty() {
        return Err(refuse());
    }
    dims.extend(last.into_iter().rev());
    Ok(dims)
}

/// Takes factors whose product is a size from the front.
fn take_first(left: &mut Vec<Size>, size: &Size) -> Option<Vec<Size>> {
    let (mut product, mut taken) = (Size::from(1), vec![]);
    while product != *size {
        if left.is_empty() {
            return None;
        }
        let next = left.remove(0);
        let whole = product.times(&next);
        // A part of a number, or what a number divides off the end of a size.
        let rest = size.divided(&product);
        let part =
            rest.filter(|rest| *rest != next).and_then(|rest| Some((next.divided(&rest)?, rest)));
        match part {
            Some((behind, rest)) if behind.known().is_some() && behind.known() != Some(1) => {
                taken.push(rest);
                left.insert(0, behind);
                return Some(taken);
            }
            _ => taken.push(next),
        }
        product = whole;
    }
    Some(taken)
}

/// Takes factors whose product is a size from the end.
fn take_last(left: &mut Vec<Size>, size: &Size) -> Option<Vec<Size>> {
    let (mut product, mut taken) = (Size::from(1), vec![]);
    while product != *size {
        let next = left.pop()?;
        let whole = product.times(&next);
        let rest = size.divided(&product);
        let part =
            rest.filter(|rest| *rest != next).and_then(|rest| Some((next.divided(&rest)?, rest)));
        match part {
            // The part that is taken is the inner one, which has to be a number.
            Some((before, rest)) if rest.known().is_some() && before.known() != Some(1) => {
                taken.insert(0, rest);
                left.push(before);
                return Some(taken);
            }
            _ => taken.insert(0, next),
        }
        product = whole;
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_divided_and_joined() {
        let symbols = [Symbol::new("batch", 1, 4), Symbol::new("tokens", 1, 16)];
        let [batch, tokens] = [0, 1].map(|place| Size::symbol(&symbols, place));
        let dims = [Dim::of(batch.clone()), Dim::of(tokens.clone()), Dim::known(768)];
        let texts = |dims: &[Dim]| dims.iter().map(|dim| dim.text(&symbols)).collect::<Vec<_>>();
        let reshape = |from: &[Dim], target: &[Size]| reshaped(from, target, &symbols);
        let heads = [batch.clone(), tokens.clone(), 12.into(), 64.into()];
        let heads = reshape(&dims, &heads).expect("divides the channels");
        assert_eq!(texts(&heads), ["batch", "tokens", "12", "64"]);
        let rows = reshape(&dims, &[(-1).into(), 768.into()]).expect("joins rows");
        assert_eq!(texts(&rows), ["batch x tokens", "768"]);
        let back = [batch.clone(), (-1).into(), 768.into()];
        assert_eq!(reshape(&rows, &back).expect("divides rows"), dims);
        let flat = reshape(&dims, &[batch.clone(), (-1).into()]).expect("flattens");
        assert_eq!(texts(&flat), ["batch", "tokens * 768"]);
        let whole = reshape(&dims[..2], &[batch.times(&tokens)]).expect("joins all");
        assert_eq!(texts(&whole), ["batch x tokens"]);
        assert!(reshape(&dims, &[tokens, batch, 768.into()]).is_err());
        let even = Dim::of(Size::symbol(&symbols, 1).times(&6.into()));
        let split = reshape(&[even], &[(-1).into(), 3.into()]).expect("divides the end");
        assert_eq!(texts(&split), ["tokens * 2", "3"]);
    }
}
