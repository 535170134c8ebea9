//! Weights as AMX's registers take them: bytes with signs, in the order of VNNI.

use super::{Amx, Contraction};
use crate::host::kernel::{ChannelTiles, weights::Source};

/// Number of bytes, one or two, whose sum each of these weights is: a byte less a zero point may
/// have nine bits.
pub(super) fn parts(weights: &[i16]) -> Option<usize> {
    (1..=2)
        .find(|parts: &i16| {
            let range = parts * i16::from(i8::MIN)..=parts * i16::from(i8::MAX);
            weights.iter().all(|weight| range.contains(weight))
        })
        .map(|parts| parts as usize)
}

impl Amx {
    /// Packs the weights of a contraction: for each block of channels the first bytes of all weights, then the second
    /// ones.
    pub fn pack(
        &self,
        spec: &Contraction,
        blocks: &[ChannelTiles],
        (source, weights): (&Source, &[i16]),
    ) -> Vec<i8> {
        let mut left = weights.to_vec();
        let mut parts = vec![];
        for _ in 0..self.parts {
            let bytes: Vec<i8> = left.iter().map(|weight| byte(*weight)).collect();
            left.iter_mut().zip(&bytes).for_each(|(left, byte)| *left -= i16::from(*byte));
            parts.push(source.pack(&bytes, blocks, self.grouping()));
        }
        let rows = self.grouping().padded(spec.reduction());
        let sizes: Vec<usize> = blocks
            .iter()
            .flat_map(|tiles| (0..tiles.count).map(|_| (rows * tiles.lanes()) as usize))
            .collect();
        let mut packed = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        let mut from = 0;
        for size in sizes.iter().cycle().take(sizes.len() * spec.groups as usize) {
            for part in &parts {
                packed.extend(&part[from..from + size]);
            }
            from += size;
        }
        packed
    }
}

/// The byte next to a number.
fn byte(number: i16) -> i8 {
    number.clamp(i8::MIN.into(), i8::MAX.into()) as i8
}

#[cfg(test)]
mod tests {
    use super::{byte, parts};

    #[test]
    fn nine_bits_are_two_bytes_but_for_one_number() {
        assert_eq!(parts(&[-128, 0, 127]), Some(1));
        assert_eq!(parts(&[-255, 128]), Some(2));
        assert_eq!(parts(&[255]), None);
        for weight in -256..=254 {
            let first = byte(weight);
            assert!(i8::try_from(weight - i16::from(first)).is_ok(), "{weight}");
        }
    }
}
