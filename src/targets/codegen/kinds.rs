//! The table of code generators, from which their names in manifests, what manifests have to keep to
//! with each, help, and the list in [`crate::codegen`] are made.

use super::{C_PIPELINE, Codegen, Emit, LLVM_PIPELINE, Role};
use crate::phase::strip_comments;
use serde::Serialize;

/// The pass in [`LLVM_PIPELINE`] that is told the target's headers.
const CALLS_OF_C: &str = "outline-c-calls";

/// The pass before those of [`LLVM_PIPELINE`] that is told the C of single operations.
const OPERATIONS_IN_C: &str = "outline-c-operations";

/// The pass before that which prints kernels and what launches them.
const KERNELS_IN_C: &str = "outline-c-kernels";

/// The last pass of [`C_PIPELINE`].
const C_TARGET: &str = "set-c-target";

/// The pass of [`C_PIPELINE`] that expands operations, and those on floats that it expands.
const EXPANSION: &str = "arith-expand,";
const EXPANDED: [&str; 4] = ["arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"];

/// Requirements of a kind of code on manifests.
#[derive(Clone, Copy)]
struct Rules {
    /// Reason why hosts cannot have it.
    no_host: Option<&'static str>,
    /// Reason why devices cannot have it without a pipeline of their own for the phase codegen.
    needs_pipeline: Option<&'static str>,
    /// Passes of devices in the phase codegen, unless the manifest has a pipeline.
    default: Passes,
}

/// The passes that make code from planned buffers.
#[derive(Clone, Copy)]
enum Passes {
    Nothing,
    /// Loops and calls that can be printed as C.
    C,
    /// The LLVM dialect, for no machine in particular.
    Llvm,
}

/// Code that is not made by the framework's own passes.
const OWN: Rules = Rules { no_host: None, needs_pipeline: None, default: Passes::Nothing };
/// Code that comes from the LLVM dialect.
const FROM_LLVM: Rules = Rules { default: Passes::Llvm, ..OWN };

/// Hands the table to a macro: the variant of [`CodegenKind`], its name in manifests, the file in
/// `src/codegen/generators`, and the rules.
macro_rules! code_generators {
    ($with:ident) => {
        $with! {
            Llvm "llvm" in llvm,
                "LLVM IR, then an object: hosts, and devices with passes of their own for it",
                Rules {
                    needs_pipeline: Some(
                        "kind = \"llvm\" is the code of a host, which needs no device: leave it \
                 out for C, take \"custom\" with the hook tir-to-runtime for code of your \
                 own, or add a pipeline for the phase codegen that makes the LLVM dialect",
                    ),
                    ..FROM_LLVM
                };
            C "c" in c,
                "C, then the C compiler",
                Rules { default: Passes::C, ..OWN };
            LlvmIr "llvm-ir" in llvm_ir,
                "LLVM IR as text, which the target's own compiler (option `compiler`) makes an object of",
                Rules {
                    no_host: Some(
                        "kind = \"llvm-ir\" is for devices with an LLVM compiler of their own; a \
                         host has \"llvm\"",
                    ),
                    ..FROM_LLVM
                };
            Custom "custom" in custom,
                "What the hook tir-to-runtime makes, which there must be",
                OWN;
        }
    };
}
pub(crate) use code_generators;

macro_rules! kinds {
    ($($kind:ident $name:literal in $file:ident, $says:literal, $rules:expr;)*) => {
        /// Kind of code that is generated for a target.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize,
        )]
        pub enum CodegenKind {
            /// Not said: LLVM for hosts, C for devices. Kinds that have been read never have it.
            #[default]
            #[serde(skip)]
            Unset,
            $(
                #[doc = $says]
                #[serde(rename = $name)]
                $kind,
            )*
        }

        /// Names and what they stand for, for help.
        const LINES: &[(&str, &str)] = &[$(($name, $says)),*];

        impl CodegenKind {
            /// Its name in manifests.
            pub fn name(self) -> &'static str {
                match self {
                    Self::Unset => "",
                    $(Self::$kind => $name,)*
                }
            }

            fn rules(self) -> Rules {
                match self {
                    Self::Unset => OWN,
                    $(Self::$kind => $rules,)*
                }
            }
        }
    };
}
code_generators!(kinds);

impl CodegenKind {
    /// Default kind by role: accelerators are programmed in C.
    pub(in crate::targets) fn usual(role: Role) -> Self {
        match role {
            Role::Device => Self::C,
            Role::Host => Self::Llvm,
        }
    }

    /// Fails unless a kind of that role can have its code generated so; `has_own` says whether its
    /// manifest has a pipeline for the phase codegen.
    pub(in crate::targets) fn check(self, role: Role, has_own: bool) -> Result<(), &'static str> {
        let rules = self.rules();
        let reason = match role {
            Role::Host => rules.no_host,
            Role::Device => rules.needs_pipeline.filter(|_| !has_own),
        };
        reason.map_or(Ok(()), Err)
    }

    /// True if only the hook tir-to-runtime makes code.
    pub(crate) fn needs_hook(self) -> bool {
        self == Self::Custom
    }

    /// True if kernels become texts where `pipeline` runs in the phase codegen.
    pub(in crate::targets) fn prints_kernels(self, pipeline: &str) -> bool {
        match self.rules().default {
            Passes::C => true,
            Passes::Llvm => pipeline.contains(KERNELS_IN_C),
            Passes::Nothing => false,
        }
    }

    /// A line for each kind, for help.
    pub fn table() -> String {
        let width = LINES.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        LINES.iter().map(|(name, says)| format!("  {name:width$}  {says}\n")).collect()
    }
}

impl Codegen {
    /// The passes of phase codegen, unless a manifest has its own.
    pub(in crate::targets) fn default_pipeline(&self, role: Role) -> Option<String> {
        let emit: Vec<String> = self.emit.iter().map(Emit::to_string).collect();
        let emit = match emit.is_empty() {
            true => String::new(),
            false => format!(" emit={{{}}}", emit.join("; ")),
        };
        match self.kind.rules().default {
            Passes::C => {
                let headers = self.headers.join(":");
                Some(format!("{}{{headers={headers}{emit}}},verify-c", self.c_passes()))
            }
            Passes::Llvm if role == Role::Device => {
                let headers = self.headers.join(":");
                let calls = format!("{CALLS_OF_C}{{headers={headers}}}");
                let passes = strip_comments(LLVM_PIPELINE).replace(CALLS_OF_C, &calls);
                Some(self.printed(&headers, &emit) + &passes)
            }
            Passes::Llvm | Passes::Nothing => None,
        }
    }

    /// Passes before those of [`LLVM_PIPELINE`]: they print kernels and single operations as C, on
    /// operations as C has them. `emit` is an option of both.
    fn printed(&self, headers: &str, emit: &str) -> String {
        let kernels = self.kernels.as_ref().map(|_| KERNELS_IN_C);
        let operations = (!emit.is_empty()).then_some(OPERATIONS_IN_C);
        let passes: String = kernels
            .into_iter()
            .chain(operations)
            .map(|pass| format!("{pass}{{headers={headers}{emit}}},"))
            .collect();
        match passes.is_empty() {
            true => passes,
            false => self.c_passes().replace(C_TARGET, "") + &passes,
        }
    }

    /// The passes of [`C_PIPELINE`], without the one that would take apart an operation whose C the
    /// manifest has; the printer knows the others of its operations.
    fn c_passes(&self) -> String {
        let passes = strip_comments(C_PIPELINE);
        match self.emit.iter().any(|emit| EXPANDED.contains(&emit.op.as_str())) {
            true => passes.replace(EXPANSION, ""),
            false => passes,
        }
    }
}
