//! Numbers of types of 8 bits or less that tensors of programs do not have: several in a byte, and
//! 8-bit floats.

use super::sampler::Sampler;
use crate::tensor::{DType, SmallType, Tensor};

/// Meaning of an element's bits.
enum Meaning {
    Signed,
    Unsigned,
    /// A float with a sign, whose greatest finite magnitude is this code.
    Float(usize),
    /// A power of two: codes from, and to.
    Power(usize, usize),
}

fn meaning(ty: SmallType) -> Meaning {
    match ty.mlir_name() {
        "f8E4M3FN" => Meaning::Float(0x7e),
        "f8E4M3FNUZ" | "f8E5M2FNUZ" => Meaning::Float(0x7f),
        "f8E5M2" => Meaning::Float(0x7b),
        "f4E2M1FN" => Meaning::Float(7),
        // Around 1, which is 127.
        "f8E8M0FNU" => Meaning::Power(120, 134),
        name if name.starts_with('u') => Meaning::Unsigned,
        _ => Meaning::Signed,
    }
}

/// Any finite elements, a byte each.
pub fn data(ty: SmallType, sizes: &[usize], s: &mut Sampler) -> Option<Tensor> {
    let values = 1_usize << ty.bits();
    let mut element = || match meaning(ty) {
        Meaning::Signed | Meaning::Unsigned => s.below(values),
        Meaning::Power(from, to) => from + s.below(to + 1 - from),
        Meaning::Float(most) => {
            let magnitude = s.below(most + 1);
            // Some formats have no negative 0.
            if magnitude > 0 && s.chance(50) { values / 2 + magnitude } else { magnitude }
        }
    };
    let elements: Vec<u8> = (0..sizes.iter().product()).map(|_| element() as u8).collect();
    Tensor::from_slice(sizes, &elements).ok()
}

/// The same number everywhere, brought to the ends of the type; 0 of floats.
pub fn filled(ty: SmallType, sizes: &[usize], number: i64) -> Option<Tensor> {
    let all = 1_i64 << ty.bits();
    let code = match meaning(ty) {
        Meaning::Signed => number.clamp(-all / 2, all / 2 - 1) & (all - 1),
        Meaning::Unsigned => number.clamp(0, all - 1),
        Meaning::Float(_) => 0,
        Meaning::Power(..) => 127,
    };
    let elements = vec![code as u8; sizes.iter().product()];
    Tensor::from_slice(sizes, &elements).ok()
}

/// Storage type of unpacked elements, one a byte.
pub const STORED: DType = DType::U8;

/// Element types of stored weights in networks.
pub const WEIGHTS: [SmallType; 2] = [SmallType::I4, SmallType::U4];

/// The type that computed numbers have before they are narrowed: a program is given those.
pub const WIDE: DType = DType::F32;

/// True if computed elements have a byte each, so that they can be passed to a call.
pub fn is_whole_bytes(ty: SmallType) -> bool {
    ty.bits() == 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_within_their_type() {
        let of = |name: &str, number: i64| {
            let ty = SmallType::from_name(name).unwrap();
            filled(ty, &[1], number).unwrap().as_slice::<u8>().unwrap()[0]
        };
        assert_eq!(of("i4", -3), 13);
        assert_eq!(of("i4", -100), 8);
        assert_eq!(of("u4", 100), 15);
        assert_eq!(of("u4", -1), 0);
        assert_eq!(of("i2", 5), 1);
        assert_eq!(of("f8E4M3FN", 3), 0);
    }
}
