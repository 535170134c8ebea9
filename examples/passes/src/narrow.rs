//! `narrow`: integers of one width become those of another, in functions, loops and arithmetic. A dialect conversion
//! with a type converter.

use phaseline_toolkit::{
    Context, Error, Result,
    ir::{Op, Type, attr, attribute, convert::Conversion, op_name},
    pass::{PassCx, PassResult, RunPass},
    pass_options,
    raw::ir::r#type::IntegerType,
};

pass_options! {
    /// Options of `narrow`.
    pub struct NarrowOptions {
        from: i64 = "64", "Width of the integers that become narrower";
        to: i64 = "32", "Width that they become";
    }
}

pub struct Narrow {
    from: u32,
    to: u32,
}

fn int(context: &Context, bits: u32) -> Type<'_> {
    IntegerType::new(context, bits).into()
}

/// The number of a constant, if it fits into the width.
fn number(op: Op<'_>, bits: u32) -> Result<i64> {
    let value = attr(op, "value").and_then(attribute::int);
    let value = value.ok_or_else(|| Error::invalid("it is no constant of one number"))?;
    let limit = 1_i128 << (bits - 1);
    match (-limit..limit).contains(&i128::from(value)) {
        true => Ok(value),
        false => Err(Error::invalid(format!("{value} does not fit into {bits} bits"))),
    }
}

impl RunPass for Narrow {
    const NAME: &'static str = "narrow";
    const SUMMARY: &'static str = "Make integers narrower";
    const ANCHOR: &'static str = "builtin.module";
    const DIALECTS: &'static [&'static str] = &["arith"];
    type Options = NarrowOptions;

    fn new(options: NarrowOptions, _: &Context) -> Result<Self> {
        let bits = |bits: i64| u32::try_from(bits).ok().filter(|bits| (1..=64).contains(bits));
        match (bits(options.from), bits(options.to)) {
            (Some(from), Some(to)) if from > to => Ok(Self { from, to }),
            _ => Err(Error::invalid("'from' and 'to' are widths up to 64, 'to' the smaller one")),
        }
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let (from, to) = (self.from, self.to);
        let conversion = Conversion::new()
            .types(move |context, ty| (ty == int(context, from)).then(|| int(context, to)))
            .signatures()
            .loops()
            .legal_where_types_fit()
            .pattern_on("arith.constant", "narrow-constant", move |op, _, rewriter| {
                let made = rewriter.builder()?;
                let value = made.constant_int(int(made.context, to), number(op, to)?)?;
                rewriter.replace(&[value])
            })
            .pattern_on_all("narrow", |op, _, rewriter| match op_name(op).starts_with("arith.") {
                true => rewriter.retype(),
                false => Ok(false),
            });
        cx.convert(&conversion)
    }
}
