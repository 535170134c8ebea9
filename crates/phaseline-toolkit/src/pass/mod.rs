//! The pass framework: passes written in Rust that MLIR knows by name.
//!
//! A pass is a type that implements [`RunPass`], with state, analyses and statistics, or a [`Pass`] constant; a
//! [`crate::Toolkit`] is given either.
//! Registration goes to MLIR's own registry, so a pass works inside any textual pipeline next to
//! upstream passes, shows in `--help`, runs multi-threaded and survives a crash reproducer.

mod cx;
mod options;
mod register;
mod watch;

pub use crate::ir::context::panic_text;
pub use cx::{PassCx, RunPass};
pub use options::{OptionField, OptionKind, OptionSpec, OptionValues, PassOptions, PipelineText};
pub use register::emit_error;
pub use register::{Said, remark, warn};
pub(crate) use register::{reading, register, register_pipeline, register_type, writing};
pub(crate) use watch::{Log, is_logged, watch};
pub use watch::{PassEvent, PassObserver};

use melior::ir::{Location, OperationRef, operation::OperationLike};

/// Declares a pass without options: a type that is [`RunPass`]. The body is that of [`RunPass::run`].
///
/// ```
/// # use phaseline_toolkit::{Toolkit, ir};
/// phaseline_toolkit::pass! {
///     /// Says of functions that they are empty.
///     pub Empty = "find-empty" on "func.func": "Remark on functions without operations", |cx| {
///         if ir::edit::walk(cx.op()).is_empty() {
///             cx.remark(cx.op(), "is empty");
///         }
///         Ok(())
///     }
/// }
/// # fn main() -> phaseline_toolkit::Result<()> {
/// let toolkit = Toolkit::new("my tool").run_pass::<Empty>()?;
/// # Ok(())
/// # }
/// ```
///
/// `on "func.func" makes ["arith"]` names the dialects that it creates operations of.
#[macro_export]
macro_rules! pass {
    ($(#[$about:meta])* $vis:vis $name:ident = $text:literal on $anchor:literal $(makes [$($dialect:literal),*])?: $summary:literal, |$cx:ident| $body:block) => {
        $(#[$about])*
        #[derive(Debug)]
        $vis struct $name;

        impl $crate::pass::RunPass for $name {
            const NAME: &'static str = $text;
            const SUMMARY: &'static str = $summary;
            const ANCHOR: &'static str = $anchor;
            $(const DIALECTS: &'static [&'static str] = &[$($dialect),*];)?
            type Options = ();

            fn new((): (), _: &$crate::Context) -> $crate::Result<Self> {
                Ok(Self)
            }

            fn run<'c>(&self, $cx: &mut $crate::pass::PassCx<'_, 'c>) -> $crate::pass::PassResult<'c> $body
        }
    };
}

/// The operation that a pass is given.
#[doc(hidden)]
pub type PassOp<'c> = OperationRef<'c, 'c>;

/// The declaration of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name in pipelines: kebab-case, the same as the file's name.
    pub name: &'static str,
    /// One line for `--help`: a noun phrase or imperative without a full stop.
    pub summary: &'static str,
    /// The operation that the pass runs on: `func.func`, `builtin.module`, or empty for any.
    pub anchor: &'static str,
    /// The options that the pass takes, in the order in which `run` gets their values.
    pub options: &'static [OptionSpec],
    /// Names of the dialects that the pass creates operations of.
    pub dialects: &'static [&'static str],
    /// The body. It may run on several threads at once, on different operations.
    pub run: for<'c> fn(PassOp<'c>, &OptionValues) -> Result<(), PassError<'c>>,
}

/// Failure of a pass: becomes an MLIR diagnostic at `location`, or at the operation that the pass
/// ran on.
#[derive(Debug)]
pub struct PassError<'c> {
    /// The operation at fault.
    pub location: Option<Location<'c>>,
    /// The message, naming the operation and the remedy.
    pub message: String,
}

/// The outcome of a part of a pass.
pub type PassResult<'c, T = ()> = Result<T, PassError<'c>>;

impl<'c> PassError<'c> {
    /// An error at `op`; the message is prefixed with the operation's name.
    pub fn at<'a>(op: &impl OperationLike<'c, 'a>, message: impl std::fmt::Display) -> Self
    where
        'c: 'a,
    {
        let name = op.name();
        let name = name.as_string_ref().as_str().unwrap_or("?").to_owned();
        Self { location: Some(op.location()), message: format!("'{name}' op {message}") }
    }

    /// An error about the whole operation that the pass runs on.
    pub fn new(message: impl Into<String>) -> Self {
        Self { location: None, message: message.into() }
    }
}

impl From<melior::Error> for PassError<'_> {
    fn from(error: melior::Error) -> Self {
        crate::ir::unexpected(error).into()
    }
}

impl From<crate::Error> for PassError<'_> {
    fn from(error: crate::Error) -> Self {
        Self::new(error.to_string())
    }
}
