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
    /// Which products of 16-bit floats there are, whose sums are f32.
    pub halves: Halves,
    /// Whether vectors of f16 become such of f32 in an instruction.
    pub f16: bool,
    /// Whether bytes are looked up in tables of bytes in vectors of 512 bits: AVX512-VBMI.
    pub tables: bool,
}

/// Products of pairs of bf16 that are added to f32, where they are faster than products of f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// None.
    None,
    /// Of vectors: `vdpbf16ps` of AVX-512 on processors of AMD. On those of Intel it takes as long as four products of
    /// f32.
    Vectors,
    /// Of AMX's matrices.
    Matrices,
}

/// Instructions that not all machines with vectors of a width have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extensions {
    /// Products of four bytes: VNNI.
    pub byte_products: bool,
    /// Products of matrices of bytes: AMX.
    pub byte_matrices: bool,
    /// Products of pairs of bf16, or of matrices of them with `byte_matrices`.
    pub half_products: bool,
    /// Tables of bytes in vectors: AVX512-VBMI.
    pub byte_tables: bool,
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
    /// Of four bytes with signs and four with, added to a sum: the dot product of AArch64.
    SignedBytes,
}

const AVX512: Isa = Isa {
    lanes: 16,
    registers: 32,
    fma: true,
    dot: Dot::Words,
    amx: false,
    halves: Halves::None,
    f16: true,
    tables: false,
};
const AVX512_VNNI: Isa = Isa { dot: Dot::Bytes, ..AVX512 };
const AVX512_VBMI: Isa = Isa { tables: true, ..AVX512_VNNI };
const AVX512_BF16: Isa = Isa { halves: Halves::Vectors, ..AVX512_VBMI };
const AVX512_AMX: Isa = Isa { amx: true, halves: Halves::Matrices, ..AVX512_VBMI };
const AVX2: Isa = Isa { lanes: 8, registers: 16, ..AVX512 };
const AVX2_VNNI: Isa = Isa { dot: Dot::Bytes, ..AVX2 };
const NEON: Isa = Isa { lanes: 4, dot: Dot::None, ..AVX512 };
const NEON_DOT: Isa = Isa { dot: Dot::SignedBytes, ..NEON };
const SSE2: Isa = Isa { lanes: 4, registers: 16, fma: false, f16: false, ..AVX512 };

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
    ("icelake", AVX512_VBMI),
    ("rocketlake", AVX512_VBMI),
    ("tigerlake", AVX512_VBMI),
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
    ("znver4", AVX512_BF16),
    ("znver5", AVX512_BF16),
];

/// CPUs of AArch64 that have the dot product, by the start of their names.
const DOT_CPUS: &[&str] = &[
    "ampere",
    "apple-a13",
    "apple-a14",
    "apple-a15",
    "apple-a16",
    "apple-a17",
    "apple-a18",
    "apple-a19",
    "apple-m",
    "c1-",
    "cobalt",
    "cortex-a320",
    "cortex-a510",
    "cortex-a520",
    "cortex-a55",
    "cortex-a65",
    "cortex-a71",
    "cortex-a720",
    "cortex-a725",
    "cortex-a75",
    "cortex-a76",
    "cortex-a77",
    "cortex-a78",
    "cortex-r82",
    "cortex-x",
    "exynos-m4",
    "exynos-m5",
    "fujitsu-monaka",
    "gb10",
    "grace",
    "neoverse",
    "olympus",
    "oryon",
    "saphira",
    "tsv110",
];

impl Isa {
    /// A machine of which nothing is known but that it has vectors of 128 bits.
    pub const PLAIN: Self = Self { dot: Dot::None, ..SSE2 };

    /// The same machine with AMX, if it has the vectors that go with it.
    pub fn with_amx(self) -> Option<Self> {
        let wide = self.lanes == AVX512.lanes && self.dot == Dot::Bytes;
        wide.then_some(Self { amx: true, ..self })
    }

    /// The same machine with products of bf16, if it has the vectors that go with them.
    pub fn with_halves(self) -> Option<Self> {
        let halves = if self.amx { Halves::Matrices } else { Halves::Vectors };
        (self.lanes == AVX512.lanes && self.dot != Dot::None).then_some(Self { halves, ..self })
    }

    /// The one with the longest vectors.
    pub const WIDEST: Self = AVX512;

    /// The machine with vectors of `bits` bits: 512 for AVX-512, 256 for AVX2, 128 for any x86-64. Fails for other widths,
    /// and for instructions that vectors of this width do not have.
    pub fn of_vector_bits(bits: i64, has: Extensions) -> Result<Self, String> {
        let isa = match bits {
            512 => AVX512,
            256 => AVX2,
            128 => SSE2,
            _ => return Err(format!("vector-bits must be 512, 256, 128 or 0, but is {bits}")),
        };
        let add = |isa: Self, wanted: bool, with: Option<Self>, needs: &str| match wanted {
            true => with.ok_or_else(|| needs.to_owned()),
            false => Ok(isa),
        };
        let isa = if has.byte_products { Self { dot: Dot::Bytes, ..isa } } else { isa };
        let needs = "byte-matrices needs vector-bits=512 and byte-products";
        let isa = add(isa, has.byte_matrices, isa.with_amx(), needs)?;
        let needs = "half-products needs vector-bits=512";
        let isa = add(isa, has.half_products, isa.with_halves(), needs)?;
        let tables = (bits == 512).then_some(Self { tables: true, ..isa });
        add(isa, has.byte_tables, tables, "byte-tables needs vector-bits=512")
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
            return neon(cpu, features);
        }
        if !triple.starts_with("x86_64") {
            return Self::PLAIN;
        }
        let implied =
            CPUS.iter().find(|(name, _)| cpu.starts_with(name)).map_or(SSE2, |(_, isa)| *isa);
        let has = |feature: &str, default: bool| has_feature(features, feature, default);
        let wide = implied.lanes == AVX512.lanes;
        let bytes = implied.dot == Dot::Bytes;
        let (isa, vnni) = if has("avx512f", wide) && has("avx512vl", wide) {
            (AVX512, has("avx512vnni", wide && bytes))
        } else if has("avx2", implied != SSE2) && has("fma", implied != SSE2) {
            let f16 = has("f16c", implied != SSE2);
            (Self { f16, ..AVX2 }, has("avxvnni", !wide && bytes))
        } else {
            (SSE2, false)
        };
        match isa {
            // Without BW, vectors of 512 bits have no lanes of 16.
            AVX512 if !has("avx512bw", wide) => Self { dot: Dot::None, ..AVX512 },
            isa => {
                let tiles = has("amx-tile", implied.amx);
                let isa = if vnni { Self { dot: Dot::Bytes, ..isa } } else { isa };
                let amx = tiles && has("amx-int8", implied.amx);
                let isa = isa.with_amx().filter(|_| amx).unwrap_or(isa);
                let fast = implied.halves == Halves::Vectors && has("avx512bf16", true);
                let halves = match tiles && has("amx-bf16", implied.halves == Halves::Matrices) {
                    true => Halves::Matrices,
                    false if fast => Halves::Vectors,
                    false => Halves::None,
                };
                let tables = has("avx512vbmi", implied.tables);
                if isa.lanes == AVX512.lanes { Self { halves, tables, ..isa } } else { isa }
            }
        }
    }
}

/// Whether a feature is given; the last mention of it counts.
fn has_feature(features: &str, feature: &str, default: bool) -> bool {
    let mention = features.split(',').rev().find(|f| f.get(1..) == Some(feature));
    mention.map_or(default, |mention| mention.starts_with('+'))
}

/// The vector unit of a CPU of AArch64.
fn neon(cpu: &str, features: &str) -> Isa {
    let implied = DOT_CPUS.iter().any(|name| cpu.starts_with(name));
    if has_feature(features, "dotprod", implied) { NEON_DOT } else { NEON }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_add_to_and_take_from_the_cpu() {
        let isa = |cpu, features| Isa::of_machine("x86_64-pc-linux-gnu", cpu, features);
        assert_eq!(isa("znver4", ""), AVX512_BF16);
        assert_eq!(isa("znver4", "-avx512bf16"), AVX512_VBMI);
        assert_eq!(isa("znver4", "-avx512vnni,-avx512bf16,-avx512vbmi"), AVX512);
        assert_eq!(isa("cascadelake", ""), AVX512_VNNI);
        assert_eq!(isa("znver4", "-avx512f"), AVX2);
        assert_eq!(isa("haswell", "+avxvnni"), AVX2_VNNI);
        assert_eq!(isa("sapphirerapids", ""), AVX512_AMX);
        assert_eq!(isa("graniterapids", "-amx-int8"), Isa { amx: false, ..AVX512_AMX });
        assert_eq!(isa("graniterapids", "-amx-bf16"), Isa { halves: Halves::None, ..AVX512_AMX });
        assert_eq!(isa("graniterapids", "-amx-tile"), AVX512_VBMI);
        assert_eq!(isa("emeraldrapids", "-avx512vnni,-amx-tile"), Isa { tables: true, ..AVX512 });
        assert_eq!(isa("rocketlake", "+avx512bf16"), AVX512_VBMI);
        assert_eq!(isa("rocketlake", "+amx-int8,+amx-tile"), Isa { amx: true, ..AVX512_VBMI });
        assert_eq!(isa("alderlake", "+amx-int8,+amx-tile"), AVX2_VNNI);
        assert_eq!(isa("alderlake", "-avxvnni"), AVX2);
        assert_eq!(isa("x86-64", "+avx2,+fma,+f16c"), AVX2);
        assert_eq!(isa("x86-64", "+avx2,+fma"), Isa { f16: false, ..AVX2 });
        assert_eq!(isa("x86-64", "+avx512f,+avx512vl,+avx512bw"), AVX512);
        assert_eq!(isa("x86-64", "+avx512f,+avx512vl").dot, Dot::None);
        assert_eq!(isa("x86-64", "+avx2,+fma,-avx2"), SSE2);
        assert_eq!(isa("skylake-avx512", ""), AVX512);
        assert_eq!(isa("skylake", ""), AVX2);
    }

    #[test]
    fn aarch64_has_the_dot_product_by_cpu_or_feature() {
        let isa = |cpu, features| Isa::of_machine("aarch64-linux-gnu", cpu, features);
        assert_eq!(isa("", ""), NEON);
        assert_eq!(isa("", "+dotprod"), NEON_DOT);
        assert_eq!(isa("neoverse-n1", ""), NEON_DOT);
        assert_eq!(isa("apple-m1", "-dotprod"), NEON);
        assert_eq!(isa("cortex-a76", ""), NEON_DOT);
        for old in ["cortex-a72", "cortex-a73", "cortex-a53", "apple-a12", "generic"] {
            assert_eq!(isa(old, ""), NEON);
        }
    }
}
