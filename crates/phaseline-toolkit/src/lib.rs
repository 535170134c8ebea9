//! Compilers on MLIR in safe Rust: IR that is built and rewritten, passes that MLIR knows by name, sessions, and the
//! drivers and the language server for one's own dialects. Nothing here knows neural networks.
//!
//! The modules are listed by layer, lowest first; each uses those of layers before its own only.

pub(crate) use phaseline_base::io;
pub use phaseline_base::{error, op_info};

pub(crate) mod ffi;

pub mod raw;

pub mod ir;

pub mod pass;

pub(crate) mod session;

#[cfg(feature = "unchecked")]
#[doc(hidden)]
pub mod phase;
#[cfg(not(feature = "unchecked"))]
#[allow(dead_code, reason = "other crates use it")]
pub(crate) mod phase;

pub(crate) mod driver;

pub mod upstream;

pub mod lit;

pub(crate) mod toolkit;

pub mod scaffold;

pub mod testing;

pub mod prelude;

pub use driver::report;
pub use error::{Error, Result};
pub use ir::{
    Context,
    context::{Cancel, Statistic},
};
pub use phase::Phases;
#[cfg(feature = "jit")]
pub use session::Jit;
pub use session::{Diagnostic, Note, Session, Severity, ThreadPool};
#[doc(hidden)]
pub use session::{LeftOut, Verified};
#[doc(hidden)]
pub use toolkit::plugin;
pub use toolkit::{Dialect, Toolkit};

#[doc(hidden)]
pub use mlir_sys as sys;

/// The typed views of a dialect that `phaseline-build` made: a module `NAME` with a type for each operation, and
/// `NAME::dialect()` for a [`Toolkit`].
#[macro_export]
macro_rules! dialect {
    ($name:ident, $handle:ident) => {
        #[allow(
            missing_docs,
            clippy::derivable_impls,
            clippy::doc_lazy_continuation,
            clippy::excessive_precision,
            clippy::too_many_arguments,
            reason = "ODS decides"
        )]
        pub mod $name {
            use $crate::{
                Result,
                ir::{
                    Attribute, Builder, Op, Type, Val,
                    view::{self, *},
                },
            };
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), "_views.rs"));

            /// The dialect, for a toolkit.
            pub fn dialect() -> $crate::Dialect {
                unsafe extern "C" {
                    fn $handle() -> $crate::sys::MlirDialectHandle;
                }
                // SAFETY: the C++ that `phaseline-build` made defines it by MLIR's macro.
                unsafe { $crate::Dialect::from_raw($handle()) }
            }
        }
    };
}

/// The main function of a test target without a harness that runs the FileCheck tests of a folder: RUN lines have the
/// programs by these words.
#[macro_export]
macro_rules! lit {
    ($folder:literal $(, $name:literal = $program:expr)* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            let tools = [$($crate::lit::Tool { name: $name, program: $program }),*];
            $crate::lit::main($folder, &tools, ::std::env::args().skip(1))
        }
    };
}
