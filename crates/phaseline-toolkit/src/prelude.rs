//! The items that most compilers use.
//!
//! ```
//! use phaseline_toolkit::prelude::*;
//!
//! rule! {
//!     /// `x - x` is 0.
//!     pub NOTHING = "nothing" on "arith.subi": |rewriter, op| {
//!         let [a, b] = ir::operands(op)[..] else { return Ok(false) };
//!         if a != b {
//!             return Ok(false);
//!         }
//!         let zero = rewriter.before(op)?.constant_int(ir::type_of(a), 0)?;
//!         rewriter.replace(op, &[zero])?;
//!         Ok(true)
//!     }
//! }
//!
//! pass! {
//!     /// Applies the rule.
//!     pub Simplify = "simplify-differences" on "func.func": "Make differences of equal values zero", |cx| {
//!         cx.rewrite(&[NOTHING])?;
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let toolkit = Toolkit::new("my tool").upstream([upstream::arith(), upstream::func()]);
//! let session = toolkit.run_pass::<Simplify>()?.session();
//! let text = b"func.func @f(%x: i32) -> i32 {
//!     %0 = arith.subi %x, %x : i32
//!     return %0 : i32
//!   }";
//! let mut module = session.parse(text, "f.mlir")?;
//! session.run_pipeline(&mut module, "builtin.module(func.func(simplify-differences))")?;
//! let names: Vec<_> = ir::edit::walk(ir::root(&module)).into_iter().map(ir::op_name).collect();
//! assert_eq!(names, ["func.func", "arith.constant", "func.return"]);
//! # Ok(())
//! # }
//! ```

pub use crate::{
    Context, Error, Phases, Result, Session, Toolkit, dialect,
    ir::{
        self, Attribute, Builder, Module, Op, OpSpec, Type, Val,
        analysis::Dominance,
        body::Folded,
        convert::Conversion,
        dataflow::{DataFlow, Direction, Flow, Lattice},
        rewrite::{Rewriter, Rule},
        view::OpView,
    },
    pass,
    pass::{PassCx, PassResult, RunPass},
    pass_choice, pass_options, rule, upstream,
};
