//! The items that most programs with Phaseline in them use.
//!
//! ```
//! use phaseline::prelude::*;
//! # fn main() -> Result<()> {
//! let session = Session::new();
//! let text = b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = graph.abs %x : tensor<4xf32>
//!     return %0 : tensor<4xf32>
//!   }";
//! let module = session.parse(text, "abs.mlir")?;
//! let compiled = session.compile(module, &CompileOptions::default())?;
//! let input = Tensor::from_slice(&[4], &[-1.0_f32, 2.0, -3.0, 4.0])?;
//! let outputs = compiled.load()?.run(&[input])?;
//! assert_eq!(outputs[0].to_f64(), [1.0, 2.0, 3.0, 4.0]);
//! # Ok(())
//! # }
//! ```

pub use crate::{
    CompileOptions, Compiled, DType, Error, Interface, Phase, Result, Session, Tensor, Toolkit,
    hook::{Hooks, Request},
    ir::{self, Builder, Module, Op, OpSpec, Val},
    pass::{self, OptionValues, Pass, PassError},
    pass_options,
    pattern::PatternSpec,
    phase::Phases,
    targets::TargetKind,
};
