//! The numbers that floats of a byte or less stand for.

/// A float type of 8 or 4 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallFloat {
    bits: u32,
    /// Bits of the fraction.
    fraction: i32,
    /// Exponent bias.
    bias: i32,
    top: Top,
}

/// Codes that stand for no finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Top {
    /// Nothing.
    Numbers,
    /// The greatest code is NaN.
    OneNaN,
    /// -0 is NaN.
    NegativeZero,
    /// The greatest exponent is infinity or NaN, as in IEEE 754.
    Infinity,
    /// The greatest exponent is NaN; there is no sign and no fraction.
    Power,
}

impl SmallFloat {
    /// The type of this name in MLIR.
    pub fn of(name: &str) -> Option<Self> {
        let (bits, fraction, bias, top) = match name {
            "f8E4M3FN" => (8, 3, 7, Top::OneNaN),
            "f8E4M3FNUZ" => (8, 3, 8, Top::NegativeZero),
            "f8E5M2" => (8, 2, 15, Top::Infinity),
            "f8E5M2FNUZ" => (8, 2, 16, Top::NegativeZero),
            "f8E8M0FNU" => (8, 0, 127, Top::Power),
            "f4E2M1FN" => (4, 1, 1, Top::Numbers),
            _ => return None,
        };
        Some(Self { bits, fraction, bias, top })
    }

    /// The number of the lowest bits of a byte.
    pub fn value(self, byte: u8) -> f32 {
        let Self { bits, fraction, bias, top } = self;
        if top == Top::Power {
            let power = 2f64.powi(i32::from(byte) - bias) as f32;
            return if byte == u8::MAX { f32::NAN } else { power };
        }
        let sign = 1u8 << (bits - 1);
        let (code, is_negative) = (byte & (sign - 1), byte & sign != 0);
        let (exponent, rest) = (i32::from(code >> fraction), code & ((1 << fraction) - 1));
        let last = i32::from((sign - 1) >> fraction);
        let magnitude = match top {
            Top::NegativeZero if is_negative && code == 0 => f32::NAN,
            Top::OneNaN if code == sign - 1 => f32::NAN,
            Top::Infinity if exponent == last && rest == 0 => f32::INFINITY,
            Top::Infinity if exponent == last => f32::NAN,
            _ => {
                let whole = if exponent == 0 { 0 } else { 1u8 << fraction };
                f32::from(whole + rest) * 2f32.powi(exponent.max(1) - bias - fraction)
            }
        };
        if is_negative { -magnitude } else { magnitude }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_have_their_values() {
        let value = |name, byte| SmallFloat::of(name).expect("a float").value(byte);
        for (name, byte, expected) in [
            ("f8E4M3FN", 0x38, 1.0),
            ("f8E4M3FN", 0x7e, 448.0),
            ("f8E4M3FN", 0x81, -0.001953125),
            ("f8E4M3FNUZ", 0x40, 1.0),
            ("f8E4M3FNUZ", 0x7f, 240.0),
            ("f8E5M2", 0x3c, 1.0),
            ("f8E5M2", 0x7b, 57344.0),
            ("f8E5M2", 0xfc, f32::NEG_INFINITY),
            ("f8E5M2FNUZ", 0x7f, 57344.0),
            ("f8E8M0FNU", 0x7f, 1.0),
            ("f8E8M0FNU", 0x00, 2f32.powi(-126) / 2.0),
            ("f4E2M1FN", 0x7, 6.0),
            ("f4E2M1FN", 0x9, -0.5),
        ] {
            assert_eq!(value(name, byte), expected, "{name} {byte:#x}");
        }
        for (name, byte) in [
            ("f8E4M3FN", 0x7f),
            ("f8E4M3FN", 0xff),
            ("f8E4M3FNUZ", 0x80),
            ("f8E5M2", 0x7d),
            ("f8E8M0FNU", 0xff),
        ] {
            assert!(value(name, byte).is_nan(), "{name} {byte:#x}");
        }
        assert_eq!(SmallFloat::of("i4"), None);
    }
}
