//! `toy-lower`: arithmetic of the dialect becomes that of `arith`, on tensors. A conversion by patterns on typed views.

use crate::toy;
use phaseline_toolkit::{
    Context, Result,
    ir::{convert::Conversion, type_of},
    pass::{NoOptions, PassCx, PassResult, RunPass},
};

pub struct Lower;

impl RunPass for Lower {
    const NAME: &'static str = "toy-lower";
    const SUMMARY: &'static str = "Lower arithmetic to arith";
    const ANCHOR: &'static str = "builtin.module";
    const DIALECTS: &'static [&'static str] = &["arith"];
    type Options = NoOptions;

    fn new(_: NoOptions, _: &Context) -> Result<Self> {
        Ok(Self)
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let conversion = Conversion::new()
            .legal(["arith"])
            .illegal([toy::Add::NAME, toy::Mul::NAME, toy::Constant::NAME])
            .pattern::<toy::Add>("add", |_, operands, rewriter| {
                let (a, b) = (operands.get(0)?, operands.get(1)?);
                let sum = rewriter.builder()?.binary("arith.addf", a, b)?;
                rewriter.replace(&[sum])
            })
            .pattern::<toy::Mul>("mul", |_, operands, rewriter| {
                let (a, b) = (operands.get(0)?, operands.get(1)?);
                let product = rewriter.builder()?.binary("arith.mulf", a, b)?;
                rewriter.replace(&[product])
            })
            .pattern::<toy::Constant>("constant", |op, _, rewriter| {
                let attributes = vec![("value", op.value())];
                let builder = rewriter.builder()?;
                let made = builder.op1_with("arith.constant", &[], type_of(op.y()), attributes)?;
                rewriter.replace(&[made])
            });
        cx.convert(&conversion)
    }
}
