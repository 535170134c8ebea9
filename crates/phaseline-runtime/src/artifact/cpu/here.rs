//! The features that this machine has, by LLVM's names.

use std::sync::OnceLock;

/// CPU features whose instructions no compiled model has: they are for systems and security. [`here`] says
/// nothing of them.
pub const INERT: &[&str] = &[
    "cldemote",
    "clwb",
    "clzero",
    "enqcmd",
    "hreset",
    "invpcid",
    "kl",
    "mwaitx",
    "pconfig",
    "pku",
    "prefetchi",
    "ptwrite",
    "rdpid",
    "rdpru",
    "rtm",
    "serialize",
    "sgx",
    "shstk",
    "tsxldtrk",
    "uintr",
    "usermsr",
    "waitpkg",
    "wbnoinvd",
    "widekl",
    "xsaves",
];

/// The triple of this machine, as LLVM normalises it.
pub const HERE: &str = match (cfg!(target_os = "linux"), cfg!(target_arch = "x86_64")) {
    (true, true) => "x86_64-pc-linux-gnu",
    (true, false) if cfg!(target_arch = "aarch64") => "aarch64-unknown-linux-gnu",
    _ => "unknown-unknown-unknown",
};

/// The features that can be asked for here, each true if this machine has it and this process may
/// use it.
pub fn here() -> &'static [(&'static str, bool)] {
    // Virtual machines take long to answer CPUID.
    static FOUND: OnceLock<Vec<(&str, bool)>> = OnceLock::new();
    FOUND.get_or_init(ask)
}

#[cfg(target_arch = "aarch64")]
fn ask() -> Vec<(&'static str, bool)> {
    // LLVM asks for no others.
    vec![
        ("aes", std::arch::is_aarch64_feature_detected!("aes")),
        ("sha2", std::arch::is_aarch64_feature_detected!("sha2")),
    ]
}

/// Nothing can be asked for.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
fn ask() -> Vec<(&'static str, bool)> {
    vec![]
}

#[cfg(target_arch = "x86_64")]
use x86::ask;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__cpuid_count, __get_cpuid_max, _xgetbv, CpuidResult};

    /// Registers that a system has to save for processes that use a feature.
    #[derive(Clone, Copy)]
    enum Saved {
        /// Registers that all systems save.
        Base,
        /// `ymm`.
        Avx,
        /// `zmm` and masks.
        Avx512,
        /// Tiles.
        Amx,
        /// The second sixteen general ones.
        Apx,
    }

    /// A register of an answer of CPUID.
    #[derive(Clone, Copy)]
    enum Register {
        Eax,
        Ebx,
        Ecx,
        Edx,
    }

    /// Features that a word of CPUID tells, each with its bit.
    struct Word {
        leaf: u32,
        subleaf: u32,
        register: Register,
        saved: Saved,
        bits: &'static [(u32, &'static str)],
    }

    const fn word(
        (leaf, subleaf): (u32, u32),
        register: Register,
        saved: Saved,
        bits: &'static [(u32, &'static str)],
    ) -> Word {
        Word { leaf, subleaf, register, saved, bits }
    }

    const BASIC: (u32, u32) = (1, 0);
    const EXTENDED: (u32, u32) = (0x8000_0001, 0);
    const MORE: (u32, u32) = (7, 0);
    const LATEST: (u32, u32) = (7, 1);

    /// Words of CPUID by Intel's and AMD's manuals.
    const WORDS: &[Word] = &[
        word(
            BASIC,
            Register::Edx,
            Saved::Base,
            &[(8, "cx8"), (15, "cmov"), (23, "mmx"), (24, "fxsr"), (25, "sse"), (26, "sse2")],
        ),
        word(
            BASIC,
            Register::Ecx,
            Saved::Base,
            &[
                (0, "sse3"),
                (1, "pclmul"),
                (9, "ssse3"),
                (13, "cx16"),
                (19, "sse4.1"),
                (20, "sse4.2"),
                (20, "crc32"),
                (22, "movbe"),
                (23, "popcnt"),
                (25, "aes"),
                (30, "rdrnd"),
            ],
        ),
        word(
            BASIC,
            Register::Ecx,
            Saved::Avx,
            &[(12, "fma"), (26, "xsave"), (28, "avx"), (29, "f16c")],
        ),
        word(
            EXTENDED,
            Register::Ecx,
            Saved::Base,
            &[(0, "sahf"), (5, "lzcnt"), (6, "sse4a"), (8, "prfchw"), (15, "lwp"), (21, "tbm")],
        ),
        word(EXTENDED, Register::Ecx, Saved::Avx, &[(11, "xop"), (16, "fma4")]),
        word(EXTENDED, Register::Edx, Saved::Base, &[(29, "64bit")]),
        word(
            MORE,
            Register::Ebx,
            Saved::Base,
            &[
                (0, "fsgsbase"),
                (3, "bmi"),
                (8, "bmi2"),
                (18, "rdseed"),
                (19, "adx"),
                (23, "clflushopt"),
                (29, "sha"),
            ],
        ),
        word(MORE, Register::Ebx, Saved::Avx, &[(5, "avx2")]),
        word(
            MORE,
            Register::Ebx,
            Saved::Avx512,
            &[
                (16, "avx512f"),
                (17, "avx512dq"),
                (21, "avx512ifma"),
                (28, "avx512cd"),
                (30, "avx512bw"),
                (31, "avx512vl"),
            ],
        ),
        word(MORE, Register::Ecx, Saved::Base, &[(8, "gfni"), (27, "movdiri"), (28, "movdir64b")]),
        word(MORE, Register::Ecx, Saved::Avx, &[(9, "vaes"), (10, "vpclmulqdq")]),
        word(
            MORE,
            Register::Ecx,
            Saved::Avx512,
            &[
                (1, "avx512vbmi"),
                (6, "avx512vbmi2"),
                (11, "avx512vnni"),
                (12, "avx512bitalg"),
                (14, "avx512vpopcntdq"),
            ],
        ),
        word(MORE, Register::Edx, Saved::Avx512, &[(8, "avx512vp2intersect"), (23, "avx512fp16")]),
        word(
            MORE,
            Register::Edx,
            Saved::Amx,
            &[(22, "amx-bf16"), (24, "amx-tile"), (25, "amx-int8")],
        ),
        word(
            LATEST,
            Register::Eax,
            Saved::Base,
            &[
                (0, "sha512"),
                (1, "sm3"),
                (2, "sm4"),
                (3, "raoint"),
                (7, "cmpccxadd"),
                (31, "movrs"),
            ],
        ),
        word(LATEST, Register::Eax, Saved::Avx, &[(4, "avxvnni"), (23, "avxifma")]),
        word(LATEST, Register::Eax, Saved::Avx512, &[(5, "avx512bf16")]),
        word(LATEST, Register::Eax, Saved::Amx, &[(21, "amx-fp16")]),
        word(
            LATEST,
            Register::Edx,
            Saved::Avx,
            &[(4, "avxvnniint8"), (5, "avxneconvert"), (10, "avxvnniint16")],
        ),
        word(LATEST, Register::Edx, Saved::Amx, &[(8, "amx-complex")]),
        word(
            LATEST,
            Register::Edx,
            Saved::Apx,
            &[
                (21, "egpr"),
                (21, "push2pop2"),
                (21, "ppx"),
                (21, "ndd"),
                (21, "ccmp"),
                (21, "nf"),
                (21, "cf"),
                (21, "zu"),
            ],
        ),
        word((0xd, 1), Register::Eax, Saved::Avx, &[(0, "xsaveopt"), (1, "xsavec")]),
        word(
            (0x1e, 1),
            Register::Eax,
            Saved::Amx,
            &[(4, "amx-fp8"), (6, "amx-tf32"), (7, "amx-avx512"), (8, "amx-movrs")],
        ),
    ];

    /// The answers of CPUID, each asked for once.
    struct Answers {
        /// The highest leaf of the basic ones, and of the extended ones.
        most: [u32; 2],
        known: Vec<((u32, u32), CpuidResult)>,
    }

    impl Answers {
        fn new() -> Self {
            let most = [0, 0x8000_0000].map(|first| __get_cpuid_max(first).0);
            Self { most, known: vec![] }
        }

        /// A word; zero of leaves that there are not.
        fn word(&mut self, leaf: u32, subleaf: u32, register: Register) -> u32 {
            // Some processors do not answer zero for subleaves that they have not.
            let is_there = leaf <= self.most[usize::from(leaf >> 31 == 1)]
                && (leaf != 7 || subleaf == 0 || subleaf <= self.ask(7, 0).eax);
            if !is_there {
                return 0;
            }
            let answer = self.ask(leaf, subleaf);
            match register {
                Register::Eax => answer.eax,
                Register::Ebx => answer.ebx,
                Register::Ecx => answer.ecx,
                Register::Edx => answer.edx,
            }
        }

        fn ask(&mut self, leaf: u32, subleaf: u32) -> CpuidResult {
            let place = (leaf, subleaf);
            if let Some((_, answer)) = self.known.iter().find(|(known, _)| *known == place) {
                return *answer;
            }
            let answer = __cpuid_count(leaf, subleaf);
            self.known.push((place, answer));
            answer
        }

        /// The registers that the system saves.
        fn saved(&mut self) -> impl Fn(Saved) -> bool + use<> {
            let word = self.word(1, 0, Register::Ecx);
            let (xsave, avx) = (word >> 27 & 1 == 1, word >> 28 & 1 == 1);
            // SAFETY: the instruction is there if the bit above says that systems use XSAVE.
            let state = if xsave { unsafe { _xgetbv(0) } } else { 0 };
            move |registers| {
                let all = |bits: u64| state & bits == bits;
                match registers {
                    Saved::Base => true,
                    Saved::Avx => avx && all(0x6),
                    Saved::Avx512 => avx && all(0xe6),
                    Saved::Amx => all(0x6_0000),
                    Saved::Apx => all(0x8_0000),
                }
            }
        }
    }

    /// Asks the processor.
    pub fn ask() -> Vec<(&'static str, bool)> {
        let mut answers = Answers::new();
        let is_saved = answers.saved();
        let mut found = vec![];
        for Word { leaf, subleaf, register, saved, bits } in WORDS {
            let word = answers.word(*leaf, *subleaf, *register);
            let has = |bit: u32| word >> bit & 1 == 1 && is_saved(*saved);
            found.extend(bits.iter().map(|(bit, name)| (*name, has(*bit))));
        }
        // Versions of a set of instructions, which needs the registers of AVX-512.
        let has = answers.word(7, 1, Register::Edx) >> 19 & 1 == 1 && is_saved(Saved::Avx512);
        let version = if has { answers.word(0x24, 0, Register::Ebx) & 0xff } else { 0 };
        found.extend([("avx10.1", version >= 1), ("avx10.2", version >= 2)]);
        found
    }
}
