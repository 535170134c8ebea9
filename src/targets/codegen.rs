//! Code generation in a manifest: the generator of the code, and its settings for compiler and
//! linker. The generators are in [`crate::codegen`].

mod kinds;

pub use kinds::CodegenKind;
pub(crate) use kinds::code_generators;

use super::{device::Activation, kind::Role, manifest::files::is_identifier};
use crate::{expr::dtype_of, phase::strip_comments};
use serde::Serialize;
use std::fmt;
use toml::Spanned;

/// Default pipeline from a target's module to C; it ends with the pass that takes `headers`.
const C_PIPELINE: &str = include_str!("../../pipelines/common/c.pipeline");

/// Pipeline from a device's module to the LLVM dialect.
const LLVM_PIPELINE: &str = include_str!("../../pipelines/common/llvm.pipeline");

/// Pipeline from a function on buffers to parallel loops.
const KERNEL_PIPELINE: &str = include_str!("../../pipelines/common/kernels.pipeline");

/// Generation and linking of a target's code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Codegen {
    /// Code generator. Default: `c` of a device, `llvm` of a host.
    #[serde(default)]
    pub kind: CodegenKind,
    /// Headers that generated C may include; all, if the manifest has no pipeline for codegen.
    #[serde(default)]
    pub headers: Vec<String>,
    /// C sources that are compiled and linked with the generated code.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Directories in which C compilers look for headers.
    #[serde(default)]
    pub include_dirs: Vec<String>,
    /// Flags of the C compiler.
    #[serde(default)]
    pub cflags: Vec<String>,
    /// Flags of the linker, such as `-lm` and `-L/opt/vendor/lib`. Shared libraries that they name
    /// are loaded into the process when a model runs in it.
    #[serde(default)]
    pub link_flags: Vec<String>,
    /// Function that opens the device.
    pub open: Option<String>,
    /// Arguments of that function behind the place for the device: `id` and `option.NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(default)]
    pub open_arguments: Vec<String>,
    /// Function that closes the device.
    pub close: Option<String>,
    /// Function that gives the text of a status, for messages.
    pub status_string: Option<String>,
    /// Function that is called before the device works: `int f(DEVICE *)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activate: Option<Spanned<String>>,
    /// Function that is called when it has, also after a failure: `int f(DEVICE *)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deactivate: Option<Spanned<String>>,
    /// Extent of an activation. Default: `inference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Spanned<Activation>>,
    /// Functions that run regions of which hooks made blobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<Spanned<super::device::Blob>>,
    /// C that is used unless an option says where a library is.
    pub stand_in: Option<StandIn>,
    /// Machine that runs the loops of its regions; the C compiler's machine without it.
    pub kernels: Option<Kernels>,
    /// C of single operations, in place of the usual; the first that fits counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(default)]
    pub emit: Vec<Emit>,
}

/// The C of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Emit {
    /// Its name in IR, such as `math.exp`.
    pub op: String,
    /// Element type of its operands. Default: any that is no index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// A C expression, in which `$0`, `$1` are the operands.
    pub c: String,
}

impl Emit {
    /// Checks the texts; the error describes the fault.
    fn check(&self) -> Result<(), String> {
        let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let known = ["arith.", "math."].iter().find_map(|dialect| self.op.strip_prefix(dialect));
        if !known.is_some_and(|word| !word.is_empty() && is_word(word)) {
            return Err(format!(
                "emit is for operations of arith and math, such as math.exp, and '{}' is none",
                self.op
            ));
        }
        if let Some(dtype) = self.dtype.as_ref().filter(|dtype| dtype_of(dtype).is_none()) {
            return Err(format!("emit of {}: '{dtype}' is no element type that C has", self.op));
        }
        if ["arith.ceildivsi", "arith.ceildivui", "arith.floordivsi"].contains(&self.op.as_str()) {
            return Err(format!(
                "emit of {}: it is taken apart before C is printed; take arith.divsi or arith.divui",
                self.op
            ));
        }
        if ["arith.cmpf", "arith.cmpi"].contains(&self.op.as_str()) {
            return Err(format!(
                "emit of {}: an expression is not told which comparison it is to be; take a pattern with \
                 a call",
                self.op
            ));
        }
        let computes = !["arith.extf", "arith.truncf", "arith.bitcast"].contains(&self.op.as_str());
        if let Some(half) =
            self.dtype.as_ref().filter(|dtype| ["f16", "bf16"].contains(&dtype.as_str()))
            && computes
        {
            return Err(format!(
                "emit of {}: {half} is computed in f32, so say dtype = \"f32\"",
                self.op
            ));
        }
        // Signs that end an expression, or the place of this one in the text of a pipeline.
        match self.c.chars().find(|c| "{};'\"\n".contains(*c)) {
            _ if self.c.trim().is_empty() => {
                Err(format!("emit of {}: c is to be a C expression, such as f($0)", self.op))
            }
            Some(c) => Err(format!("emit of {}: c has the sign {c:?}; write a function", self.op)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Emit {
    /// Writes the form that `set-c-target` reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dtype = self.dtype.as_deref().unwrap_or("*");
        write!(f, "{} {dtype} {}", self.op, self.c.trim())
    }
}

/// A language of kernels, in which a device is given the loops of its regions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Kernels {
    /// The language.
    pub language: KernelLanguage,
    /// `int f(DEVICE *, const char *const *sources, size_t count)`: makes the kernels known, before
    /// the first run. The texts are one program.
    pub load: String,
    /// `int f(DEVICE *, const char *kernel, const size_t sizes[3], const void *const *buffers,
    /// size_t count)`: runs a kernel once for each index of a grid. Each buffer is two arguments of
    /// the kernel: what it is in, and its offset in bytes.
    pub launch: String,
}

/// Languages of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelLanguage {
    /// OpenCL C 1.2.
    OpenclC,
}

impl Kernels {
    /// Makes kernels of the loops on buffers in the functions of a target.
    pub(super) fn pipeline(&self, id: &str) -> String {
        let loops = strip_comments(KERNEL_PIPELINE);
        format!(
            "for-target{{target={id} pipeline={{func.func({loops})}}}},\
             outline-kernels{{target={id} launch={}}},\
             for-target{{target={id} pipeline={{func.func(\
             scf-parallel-for-to-nested-fors,canonicalize,loop-invariant-code-motion,\
             lower-affine,promote-accumulators,canonicalize,cse,block-sums,forward-stores)}}}}",
            self.launch
        )
    }
}

impl Codegen {
    /// Adds what another manifest says: files and flags before its own, else what it does not say.
    pub(super) fn add(&mut self, other: Self) {
        let before = |own: &mut Vec<String>, mut first: Vec<String>| {
            let new: Vec<String> = own.drain(..).filter(|name| !first.contains(name)).collect();
            first.extend(new);
            *own = first;
        };
        before(&mut self.headers, other.headers);
        before(&mut self.sources, other.sources);
        before(&mut self.include_dirs, other.include_dirs);
        // A flag may be there twice for a reason.
        self.cflags.splice(0..0, other.cflags);
        self.link_flags.splice(0..0, other.link_flags);
        if self.kind == CodegenKind::Unset {
            self.kind = other.kind;
        }
        if self.open.is_none() {
            self.open = other.open;
            if self.open_arguments.is_empty() {
                self.open_arguments = other.open_arguments;
            }
        }
        self.close = self.close.take().or(other.close);
        self.status_string = self.status_string.take().or(other.status_string);
        self.activate = self.activate.take().or(other.activate);
        self.deactivate = self.deactivate.take().or(other.deactivate);
        self.when = self.when.take().or(other.when);
        self.blob = self.blob.take().or(other.blob);
        self.stand_in = self.stand_in.take().or(other.stand_in);
        self.kernels = self.kernels.take().or(other.kernels);
        // The first that fits counts, so its own come first.
        self.emit.extend(other.emit);
    }

    /// Fails unless a kind of that role can have kernels, if it says that it has, and they come to the printer
    /// with `pipeline`, that of the phase codegen.
    pub(super) fn check_kernels(&self, role: Role, pipeline: Option<&str>) -> Result<(), String> {
        let Some(kernels) = &self.kernels else { return Ok(()) };
        if role == Role::Host {
            return Err("[codegen.kernels] is for devices, and this is a host".to_owned());
        }
        if self.kind.needs_hook() {
            return Err(
                "[codegen.kernels] is for code that Phaseline makes, and with kind = \"custom\" a \
                        hook does: leave out `kind`"
                    .to_owned(),
            );
        }
        if !self.kind.prints_kernels(pipeline.unwrap_or_default()) {
            return Err(
                "[codegen.kernels] comes to nothing in the pipeline of phase codegen: let it end \
                        with ${default}"
                    .to_owned(),
            );
        }
        if self.open.is_none() {
            return Err(
                "[codegen.kernels] needs `open`: its functions take the device first".to_owned()
            );
        }
        let functions = [("load", &kernels.load), ("launch", &kernels.launch)];
        match functions.into_iter().find(|(_, name)| !is_identifier(name)) {
            Some((key, name)) => {
                Err(format!("kernels: {key} = '{name}' is no name of a C function"))
            }
            None => Ok(()),
        }
    }

    /// Fails unless what is said of single operations can be, and comes to the printer with
    /// `pipeline`, that of the phase codegen.
    pub(super) fn check_emit(&self, pipeline: Option<&str>) -> Result<(), String> {
        self.emit.iter().try_for_each(Emit::check)?;
        let reaches = pipeline.is_some_and(|text| text.contains("emit="));
        if self.emit.is_empty() || reaches {
            return Ok(());
        }
        Err(match self.kind.needs_hook() {
            true => "[[codegen.emit]] is for code that Phaseline makes, and with kind = \"custom\" a hook \
                     does: leave out `kind`"
                .to_owned(),
            false => "[[codegen.emit]] comes to nothing in the pipeline of phase codegen: let it end with \
                      ${default}"
                .to_owned(),
        })
    }

    /// Calls around the device's work, for help.
    pub(super) fn context(&self) -> Vec<(String, String)> {
        let when = self.when.as_ref().map(|when| *when.get_ref()).unwrap_or_default();
        let calls = [("activate", &self.activate), ("deactivate", &self.deactivate)];
        let text = |(key, name): (&str, &Option<Spanned<String>>)| {
            let name = name.as_ref()?.get_ref();
            Some((key.to_owned(), format!("{name}, for each {}", when.name())))
        };
        calls.into_iter().filter_map(text).collect()
    }
}

/// C that does the work of a library, such as one for another processor, until an option says
/// where that library is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StandIn {
    /// The text option that holds the library's place.
    pub option: String,
    /// Headers in place of the library's.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Sources in place of the library.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Flags of the C compiler when the library is used; `${option.NAME}` stands for an option.
    #[serde(default)]
    pub library_cflags: Vec<String>,
    /// Flags of the linker when the library is used.
    #[serde(default)]
    pub library_link_flags: Vec<String>,
}
