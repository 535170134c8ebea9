//! What kernels have to know about the machine.

use super::Element;
use crate::ir::{self, Op, names};

/// The vector unit that a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa {
    /// Lanes of 32 bits of a vector register.
    pub lanes: i64,
    /// Vector registers.
    pub registers: i64,
    /// Whether there is a fused multiply-add.
    pub fma: bool,
    /// What multiplies integers and adds the products.
    pub dot: Dot,
    /// Whether there are registers of sixteen rows of 64 bytes, and instructions that multiply matrices of bytes
    /// in them: AMX.
    pub amx: bool,
}

/// Instructions that multiply neighbouring integers and add up the products in lanes of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dot {
    /// None.
    None,
    /// Of pairs of 16-bit numbers: `pmaddwd`.
    Words,
    /// That, and of four bytes without signs and four with, added to a sum: VNNI.
    Bytes,
}

const AVX512: Isa = Isa { lanes: 16, registers: 32, fma: true, dot: Dot::Words, amx: false };
const AVX512_VNNI: Isa = Isa { dot: Dot::Bytes, ..AVX512 };
const AVX512_AMX: Isa = Isa { amx: true, ..AVX512_VNNI };
const AVX2: Isa = Isa { lanes: 8, registers: 16, fma: true, dot: Dot::Words, amx: false };
const AVX2_VNNI: Isa = Isa { dot: Dot::Bytes, ..AVX2 };
const NEON: Isa = Isa { lanes: 4, registers: 32, fma: true, dot: Dot::None, amx: false };
const SSE2: Isa = Isa { lanes: 4, registers: 16, fma: false, dot: Dot::Words, amx: false };

/// CPUs of x86 with the vector unit that their name implies, by the start of their names.
const CPUS: &[(&str, Isa)] = &[
    ("x86-64-v3", AVX2),
    ("x86-64-v4", AVX512),
    ("haswell", AVX2),
    ("broadwell", AVX2),
    ("skylake-avx512", AVX512),
    ("skylake", AVX2),
    ("cascadelake", AVX512_VNNI),
    ("cooperlake", AVX512_VNNI),
    ("cannonlake", AVX512),
    ("icelake", AVX512_VNNI),
    ("rocketlake", AVX512_VNNI),
    ("tigerlake", AVX512_VNNI),
    ("sapphirerapids", AVX512_AMX),
    ("emeraldrapids", AVX512_AMX),
    ("graniterapids", AVX512_AMX),
    ("alderlake", AVX2_VNNI),
    ("raptorlake", AVX2_VNNI),
    ("meteorlake", AVX2_VNNI),
    ("arrowlake", AVX2_VNNI),
    ("lunarlake", AVX2_VNNI),
    ("sierraforest", AVX2_VNNI),
    ("znver1", AVX2),
    ("znver2", AVX2),
    ("znver3", AVX2),
    ("znver4", AVX512_VNNI),
    ("znver5", AVX512_VNNI),
];

impl Isa {
    /// A machine of which nothing is known but that it has vectors of 128 bits.
    pub const PLAIN: Self = Self { dot: Dot::None, ..SSE2 };

    /// The same machine with AMX, if it has the vectors that go with it.
    pub fn with_amx(self) -> Option<Self> {
        let wide = self.lanes == AVX512.lanes && self.dot == Dot::Bytes;
        wide.then_some(Self { amx: true, ..self })
    }

    /// The one with the longest vectors.
    pub const WIDEST: Self = AVX512;

    /// The machine with vectors of `bits` bits: 512 for AVX-512, 256 for AVX2, 128 for any x86-64.
    pub fn of_vector_bits(bits: i64) -> Option<Self> {
        match bits {
            512 => Some(AVX512),
            256 => Some(AVX2),
            128 => Some(SSE2),
            _ => None,
        }
    }

    /// Elements of a vector register.
    pub fn lanes_of(self, element: Element) -> i64 {
        self.lanes * 4 / element.bytes()
    }

    /// The machine that `set-llvm-target` wrote on the module; AVX2 if it did not run.
    pub fn of_module(module: Op<'_>) -> Self {
        let Some(triple) = ir::attr_str(module, "llvm.target_triple") else { return AVX2 };
        let read = |name| ir::attr_str(module, name).unwrap_or_default();
        Self::of_machine(&triple, &read(names::CPU), &read(names::FEATURES))
    }

    /// The vector unit of a CPU and the features that are added to or taken from it.
    pub fn of_machine(triple: &str, cpu: &str, features: &str) -> Self {
        if triple.starts_with("aarch64") || triple.starts_with("arm64") {
            return NEON;
        }
        if !triple.starts_with("x86_64") {
            return Self::PLAIN;
        }
        let implied =
            CPUS.iter().find(|(name, _)| cpu.starts_with(name)).map_or(SSE2, |(_, isa)| *isa);
        // The last mention of a feature counts.
        let has = |feature: &str, default: bool| {
            let mention = features.split(',').rev().find(|f| f.get(1..) == Some(feature));
            mention.map_or(default, |mention| mention.starts_with('+'))
        };
        let wide = implied.lanes == AVX512.lanes;
        let bytes = implied.dot == Dot::Bytes;
        let (isa, vnni) = if has("avx512f", wide) && has("avx512vl", wide) {
            (AVX512, has("avx512vnni", wide && bytes))
        } else if has("avx2", implied != SSE2) && has("fma", implied != SSE2) {
            (AVX2, has("avxvnni", !wide && bytes))
        } else {
            (SSE2, false)
        };
        match isa {
            // Without BW, vectors of 512 bits have no lanes of 16.
            AVX512 if !has("avx512bw", wide) => Self { dot: Dot::None, ..AVX512 },
            isa if vnni => {
                let isa = Self { dot: Dot::Bytes, ..isa };
                let amx = has("amx-tile", implied.amx) && has("amx-int8", implied.amx);
                isa.with_amx().filter(|_| amx).unwrap_or(isa)
            }
            isa => isa,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_add_to_and_take_from_the_cpu() {
        let isa = |cpu, features| Isa::of_machine("x86_64-pc-linux-gnu", cpu, features);
        assert_eq!(isa("znver4", ""), AVX512_VNNI);
        assert_eq!(isa("znver4", "-avx512vnni"), AVX512);
        assert_eq!(isa("znver4", "-avx512f"), AVX2);
        assert_eq!(isa("haswell", "+avxvnni"), AVX2_VNNI);
        assert_eq!(isa("sapphirerapids", ""), AVX512_AMX);
        assert_eq!(isa("graniterapids", "-amx-int8"), AVX512_VNNI);
        assert_eq!(isa("emeraldrapids", "-avx512vnni"), AVX512);
        assert_eq!(isa("rocketlake", "+amx-int8,+amx-tile"), AVX512_AMX);
        assert_eq!(isa("alderlake", "+amx-int8,+amx-tile"), AVX2_VNNI);
        assert_eq!(isa("alderlake", "-avxvnni"), AVX2);
        assert_eq!(isa("x86-64", "+avx2,+fma"), AVX2);
        assert_eq!(isa("x86-64", "+avx512f,+avx512vl,+avx512bw"), AVX512);
        assert_eq!(isa("x86-64", "+avx512f,+avx512vl").dot, Dot::None);
        assert_eq!(isa("x86-64", "+avx2,+fma,-avx2"), SSE2);
        assert_eq!(isa("skylake-avx512", ""), AVX512);
        assert_eq!(isa("skylake", ""), AVX2);
        assert_eq!(Isa::of_machine("aarch64-linux-gnu", "", ""), NEON);
    }
}
