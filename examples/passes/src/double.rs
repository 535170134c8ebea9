//! `double`: sums of equal values are shifts, by a pattern in PDL with a constraint and a rewrite in Rust.

use phaseline_toolkit::{
    ir::{self, pdl::Patterns},
    pass,
};

fn patterns() -> Patterns {
    Patterns::pdl(include_str!("double.pdl.mlir"))
        .constraint("is-wide", |given| {
            Ok(ir::integer_width(given[0].ty()?).is_some_and(|bits| bits >= 32))
        })
        .rewrite("one", |rewriter, given| {
            Ok(vec![rewriter.builder()?.constant_int(given[0].ty()?, 1)?.into()])
        })
}

pass! {
    pub Double = "double" on "builtin.module": "Make sums of equal wide values shifts", |cx| {
        cx.rewrite_pdl(&patterns())?;
        Ok(())
    }
}
