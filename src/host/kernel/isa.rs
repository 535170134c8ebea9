//! Properties of the machine that kernels depend on.

use super::Element;
use crate::{
    artifact::{Machine, machines},
    ir::Op,
};

/// The vector unit that a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa {
    /// Lanes of 32 bits of a vector register.
    pub lanes: i64,
    /// Vector registers.
    pub registers: i64,
    /// Support for fused multiply-add.
    pub fma: bool,
    /// Instructions that multiply integers and add the products.
    pub dot: Dot,
    /// Support for AMX: registers of sixteen rows of 64 bytes, and instructions that multiply
    /// matrices of bytes in them.
    pub amx: bool,
    /// Products of 16-bit floats whose sums are f32.
    pub halves: Halves,
    /// Conversion of vectors of f16 to f32 in one instruction.
    pub f16: bool,
    /// Lookup of bytes in tables of bytes in vectors of 512 bits: AVX512-VBMI.
    pub tables: bool,
}

/// Products of pairs of bf16 that are added to f32, where they are faster than products of f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// No such products, or none that are faster.
    None,
    /// Products of vectors: `vdpbf16ps` of AVX-512 on processors of AMD. On those of Intel it takes
    /// as long as four products of f32.
    Vectors,
    /// Products of AMX's matrices.
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
    /// No such instructions.
    None,
    /// Products of pairs of 16-bit numbers: `pmaddwd`.
    Words,
    /// Products of pairs of 16-bit numbers, and of four bytes without signs and four with, added to
    /// a sum: VNNI.
    Bytes,
    /// Products of four bytes with signs and four with, added to a sum: the dot product of AArch64.
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
const AVX2: Isa = Isa { lanes: 8, registers: 16, ..AVX512 };
const NEON: Isa = Isa { lanes: 4, dot: Dot::None, ..AVX512 };
const NEON_DOT: Isa = Isa { dot: Dot::SignedBytes, ..NEON };
const SSE2: Isa = Isa { lanes: 4, registers: 16, fma: false, f16: false, ..AVX512 };

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

    /// The vector unit of the machine that `set-llvm-target` wrote on the module; AVX2 if it did not run.
    pub fn of_module(module: Op<'_>) -> Self {
        machines::of(module).map_or(AVX2, |machine| Self::of_machine(&machine))
    }

    /// The vector unit of a machine, by the features that LLVM's tables give its CPU.
    pub fn of_machine(machine: &Machine) -> Self {
        match machine.architecture() {
            "aarch64" | "arm64" if machines::has(machine, "dotprod") => NEON_DOT,
            "aarch64" | "arm64" => NEON,
            "x86_64" => x86(machine),
            _ => Self::PLAIN,
        }
    }
}

/// The vector unit of an x86-64 CPU.
fn x86(machine: &Machine) -> Isa {
    let has = |feature| machines::has(machine, feature);
    let with_vnni = |isa, feature| if has(feature) { Isa { dot: Dot::Bytes, ..isa } } else { isa };
    if !(has("avx512f") && has("avx512vl")) {
        return match has("avx2") && has("fma") {
            true => with_vnni(Isa { f16: has("f16c"), ..AVX2 }, "avxvnni"),
            false => SSE2,
        };
    }
    // Without BW, vectors of 512 bits have no lanes of 16.
    if !has("avx512bw") {
        return Isa { dot: Dot::None, ..AVX512 };
    }
    let isa = with_vnni(AVX512, "avx512vnni");
    let isa = isa.with_amx().filter(|_| has("amx-int8")).unwrap_or(isa);
    let halves = match () {
        () if has("amx-bf16") => Halves::Matrices,
        () if has("avx512bf16") && is_amd(machine) => Halves::Vectors,
        () => Halves::None,
    };
    Isa { halves, tables: has("avx512vbmi"), ..isa }
}

/// True if a CPU is one of AMD: LLVM names them by their microarchitecture, Zen.
fn is_amd(machine: &Machine) -> bool {
    machine.cpu.starts_with("znver")
}

#[cfg(test)]
mod tests {
    use super::*;

    const AVX512_VNNI: Isa = Isa { dot: Dot::Bytes, ..AVX512 };
    const AVX512_VBMI: Isa = Isa { tables: true, ..AVX512_VNNI };
    const AVX512_BF16: Isa = Isa { halves: Halves::Vectors, ..AVX512_VBMI };
    const AVX512_AMX: Isa = Isa { amx: true, halves: Halves::Matrices, ..AVX512_VBMI };
    const AVX2_VNNI: Isa = Isa { dot: Dot::Bytes, ..AVX2 };

    fn isa(triple: &str, cpu: &str, features: &str) -> Isa {
        let [triple, cpu, features] = [triple, cpu, features].map(str::to_owned);
        Isa::of_machine(&Machine { triple, cpu, features })
    }

    #[test]
    fn features_add_to_and_take_from_the_cpu() {
        let isa = |cpu, features| isa("x86_64-pc-linux-gnu", cpu, features);
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
        assert_eq!(isa("knl", ""), AVX2);
        assert_eq!(isa("pantherlake", ""), AVX2_VNNI);
    }

    #[test]
    fn unknown_names_are_ignored() {
        assert_eq!(isa("x86_64-linux-gnu", "no-such-cpu", "+no-such-feature,+avx2,+fma").lanes, 8);
        assert_eq!(isa("x86_64-linux-gnu", "", ""), SSE2);
        assert_eq!(isa("riscv64-linux-gnu", "znver4", ""), Isa::PLAIN);
    }

    #[test]
    fn aarch64_has_the_dot_product_by_cpu_or_feature() {
        let isa = |cpu, features| isa("aarch64-linux-gnu", cpu, features);
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
