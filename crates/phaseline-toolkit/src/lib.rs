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
pub use session::{Diagnostic, Session, Severity, ThreadPool};
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

/// The entry of a plugin, a library of the kind `cdylib`: a function that adds dialects and passes to an empty toolkit, which
/// become those of the program.
///
/// ```
/// # use phaseline_toolkit::{Context, Result, Toolkit, pass::{PassCx, PassResult, RunPass}};
/// # struct Shifts;
/// # impl RunPass for Shifts {
/// #     const NAME: &'static str = "shifts";
/// #     const SUMMARY: &'static str = "Make multiplications shifts";
/// #     const ANCHOR: &'static str = "func.func";
/// #     type Options = ();
/// #     fn new((): (), _: &Context) -> Result<Self> { Ok(Self) }
/// #     fn run<'c>(&self, _: &mut PassCx<'_, 'c>) -> PassResult<'c> { Ok(()) }
/// # }
/// fn register(toolkit: Toolkit) -> Result<Toolkit> {
///     toolkit.run_pass::<Shifts>()
/// }
///
/// phaseline_toolkit::plugin!(register);
/// # fn main() {}
/// ```
///
/// The build script says `phaseline_build::Build::new()?.plugin()`, and a program that loads plugins `loads_rust_plugins`.
#[macro_export]
macro_rules! plugin {
    ($register:path) => {
        #[global_allocator]
        static PHASELINE_ALLOCATOR: $crate::plugin::Allocator = $crate::plugin::Allocator;

        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub static PHASELINE_PLUGIN: [u8; $crate::plugin::LENGTH] = $crate::plugin::IDENTITY;

        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn phaseline_plugin(
            given: *mut ::std::ffi::c_void,
            fault: $crate::sys::MlirStringCallback,
            user: *mut ::std::ffi::c_void,
        ) -> bool {
            // SAFETY: the program that calls this gives what is asked for.
            unsafe { $crate::plugin::enter($register, given, fault, user) }
        }
    };
}
