//! What kernels have to know about the machine.

use crate::ir::{self, Op};

/// The vector unit that a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa {
    /// f32 lanes of a vector register.
    pub lanes: i64,
    /// Vector registers.
    pub registers: i64,
    /// Whether there is a fused multiply-add.
    pub fma: bool,
}

const AVX512: Isa = Isa { lanes: 16, registers: 32, fma: true };
const AVX2: Isa = Isa { lanes: 8, registers: 16, fma: true };
const NEON: Isa = Isa { lanes: 4, registers: 32, fma: true };
const SSE2: Isa = Isa { lanes: 4, registers: 16, fma: false };

/// CPUs of x86 with the vector unit that their name implies, by the start of their names.
const CPUS: &[(&str, Isa)] = &[
    ("x86-64-v3", AVX2),
    ("x86-64-v4", AVX512),
    ("haswell", AVX2),
    ("broadwell", AVX2),
    ("skylake-avx512", AVX512),
    ("skylake", AVX2),
    ("cascadelake", AVX512),
    ("cooperlake", AVX512),
    ("cannonlake", AVX512),
    ("icelake", AVX512),
    ("rocketlake", AVX512),
    ("tigerlake", AVX512),
    ("sapphirerapids", AVX512),
    ("emeraldrapids", AVX512),
    ("graniterapids", AVX512),
    ("alderlake", AVX2),
    ("raptorlake", AVX2),
    ("meteorlake", AVX2),
    ("arrowlake", AVX2),
    ("lunarlake", AVX2),
    ("sierraforest", AVX2),
    ("znver1", AVX2),
    ("znver2", AVX2),
    ("znver3", AVX2),
    ("znver4", AVX512),
    ("znver5", AVX512),
];

impl Isa {
    /// The machine with vectors of `bits` bits: 512 for AVX-512, 256 for AVX2, 128 for any x86-64.
    pub fn of_vector_bits(bits: i64) -> Option<Self> {
        match bits {
            512 => Some(AVX512),
            256 => Some(AVX2),
            128 => Some(SSE2),
            _ => None,
        }
    }

    /// The machine that `set-llvm-target` wrote on the module; AVX2 if it did not run.
    pub fn of_module(module: Op<'_>) -> Self {
        let Some(triple) = ir::attr_str(module, "llvm.target_triple") else { return AVX2 };
        let read = |name| ir::attr_str(module, name).unwrap_or_default();
        Self::of_machine(&triple, &read("phl.cpu"), &read("phl.features"))
    }

    /// The vector unit of a CPU and the features that are added to or taken from it.
    pub fn of_machine(triple: &str, cpu: &str, features: &str) -> Self {
        if triple.starts_with("aarch64") || triple.starts_with("arm64") {
            return NEON;
        }
        if !triple.starts_with("x86_64") {
            return SSE2;
        }
        let implied =
            CPUS.iter().find(|(name, _)| cpu.starts_with(name)).map_or(SSE2, |(_, isa)| *isa);
        // The last mention of a feature counts.
        let has = |feature: &str, default: bool| {
            let mention = features.split(',').rev().find(|f| f.get(1..) == Some(feature));
            mention.map_or(default, |mention| mention.starts_with('+'))
        };
        if has("avx512f", implied == AVX512) && has("avx512vl", implied == AVX512) {
            AVX512
        } else if has("avx2", implied != SSE2) && has("fma", implied != SSE2) {
            AVX2
        } else {
            SSE2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_add_to_and_take_from_the_cpu() {
        let isa = |cpu, features| Isa::of_machine("x86_64-pc-linux-gnu", cpu, features);
        assert_eq!(isa("znver4", ""), AVX512);
        assert_eq!(isa("znver4", "-avx512f"), AVX2);
        assert_eq!(isa("x86-64", "+avx2,+fma"), AVX2);
        assert_eq!(isa("x86-64", "+avx512f,+avx512vl"), AVX512);
        assert_eq!(isa("x86-64", "+avx2,+fma,-avx2"), SSE2);
        assert_eq!(isa("skylake-avx512", ""), AVX512);
        assert_eq!(isa("skylake", ""), AVX2);
        assert_eq!(Isa::of_machine("aarch64-linux-gnu", "", ""), NEON);
    }
}
