//! Seeded tensors for `--random-inputs`, benchmarks and tests.

use super::{AlignedBuffer, DType, Tensor, TensorError};

/// SplitMix64: small, fast, and the same on every machine.
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The numbers that follow from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Mean 0, variance 1, within ±3.47: the scaled sum of four uniform numbers. Unlike the exact
    /// transforms it needs no logarithm or cosine, whose last bit differs between C libraries.
    fn normal(&mut self) -> f64 {
        let bits = self.next_u64();
        let sum: u64 = (0..4).map(|lane| (bits >> (16 * lane)) & 0xffff).sum();
        (sum as f64 / 65536.0 - (2.0 - 4.0 * 0.5 / 65536.0)) * 3f64.sqrt()
    }
}

impl Tensor {
    /// A tensor of random elements that depends on `dtype`, `shape` and `seed` alone.
    ///
    /// Floats are normal-like (mean 0, variance 1, no outliers); integers are 0 to 9, so that they
    /// also serve as indices into small tables; booleans are even.
    pub fn random(dtype: DType, shape: &[usize], seed: u64) -> Result<Tensor, TensorError> {
        let count = super::element_count(dtype, shape)?;
        let mut buffer = AlignedBuffer::zeroed(count * dtype.size())?;
        let mut rng = SplitMix64::new(seed);
        for slot in buffer.as_mut_slice().chunks_exact_mut(dtype.size()) {
            write_random(dtype, &mut rng, slot);
        }
        Tensor::from_buffer(dtype, shape, buffer)
    }

    /// Like [`Tensor::random`], with the seed mixed with `name`, so that the inputs of one model
    /// differ from each other and do not change when another input is added.
    pub fn random_named(
        dtype: DType,
        shape: &[usize],
        seed: u64,
        name: &str,
    ) -> Result<Tensor, TensorError> {
        // FNV-1a, to turn the name into a number.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Tensor::random(dtype, shape, SplitMix64::new(seed ^ hash).next_u64())
    }
}

fn write_random(dtype: DType, rng: &mut SplitMix64, slot: &mut [u8]) {
    match dtype {
        DType::F64 => slot.copy_from_slice(&rng.normal().to_ne_bytes()),
        DType::F32 => slot.copy_from_slice(&(rng.normal() as f32).to_ne_bytes()),
        DType::F16 => slot.copy_from_slice(&half::f16::from_f64(rng.normal()).to_ne_bytes()),
        DType::BF16 => slot.copy_from_slice(&half::bf16::from_f64(rng.normal()).to_ne_bytes()),
        DType::Bool => slot[0] = (rng.next_u64() >> 63) as u8,
        _ => {
            let value = (rng.next_u64() >> 32) % 10;
            let bytes = if cfg!(target_endian = "little") {
                value.to_le_bytes()
            } else {
                (value << (64 - 8 * slot.len())).to_be_bytes()
            };
            slot.copy_from_slice(&bytes[..slot.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_normal_like() {
        let tensor = Tensor::random(DType::F32, &[100, 100], 7).unwrap();
        let values = tensor.as_slice::<f32>().unwrap();
        let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / 1e4;
        let variance = values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05, "{mean}");
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
    }

    #[test]
    fn every_type_is_in_range_and_reproducible() {
        for dtype in DType::all() {
            let a = Tensor::random(dtype, &[3, 5], 1).unwrap();
            assert_eq!(a, Tensor::random(dtype, &[3, 5], 1).unwrap());
            assert_ne!(a, Tensor::random(dtype, &[3, 5], 2).unwrap(), "{dtype}");
            let limit = if dtype.is_float() { 4.0 } else { 9.0 };
            assert!(a.to_f64().iter().all(|v| v.abs() <= limit), "{dtype}");
        }
        let x = Tensor::random_named(DType::F32, &[8], 1, "x").unwrap();
        assert_ne!(x, Tensor::random_named(DType::F32, &[8], 1, "y").unwrap());
    }
}
