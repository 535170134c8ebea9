//! Dialect conversion: what it does, and the messages of what it cannot do.

use super::{Body, run};
use phaseline_toolkit::{
    ir::{Type, convert::Conversion, op_name, type_of},
    pass::{PassCx, PassResult},
    raw::ir::{TypeLike, r#type::IntegerType},
};

/// Names a body and gives its conversion.
macro_rules! conversion {
    ($body:ident, $name:literal, $conversion:expr) => {
        struct $body;
        impl Body for $body {
            const NAME: &'static str = $name;
            fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
                cx.convert(&$conversion)
            }
        }
    };
}

const SUM: &str =
    "func.func @f(%x: i64) -> i64 {\n  %0 = arith.addi %x, %x : i64\n  return %0 : i64\n}";

fn is_i64(ty: Type<'_>) -> bool {
    ty.to_string() == "i64"
}

conversion!(
    Pairs,
    "to-pairs",
    Conversion::new()
        .types_to_many(|context, ty| {
            is_i64(ty).then(|| vec![IntegerType::new(context, 32).into(); 2])
        })
        .signatures()
        .legal_where_types_fit()
        .pattern_on("arith.addi", "pairs", |_, operands, rewriter| {
            let builder = rewriter.builder()?;
            let (a, b) = (operands.list(0), operands.list(1));
            let low = builder.binary("arith.addi", a[0], b[0])?;
            let high = builder.binary("arith.addi", a[1], b[1])?;
            rewriter.replace_by_lists(&[vec![low, high]])
        })
);

#[test]
fn a_type_becomes_several() {
    let text = run::<Pairs>(SUM).expect("is converted");
    assert!(text.contains("@f(%arg0: i32, %arg1: i32) -> (i32, i32)"), "{text}");
    assert!(!text.contains("unrealized") && !text.contains("i64"), "{text}");
}

conversion!(
    Casts,
    "with-casts",
    Conversion::new()
        .types(|context, ty| is_i64(ty).then(|| Type::index(context)))
        .materialize(|builder, ty, inputs| match inputs {
            [input] => builder.op1("arith.index_cast", &[*input], ty).map(Some),
            _ => Ok(None),
        })
        .legal_if("arith.addi", |op| Some(!is_i64(type_of(phaseline_toolkit::ir::operands(op)[0]))))
        .pattern_on("arith.addi", "add", |_, _, rewriter| rewriter.retype())
);

#[test]
fn values_are_made_at_the_border() {
    let text = run::<Casts>(SUM).expect("is converted");
    assert_eq!(text.matches("arith.index_cast").count(), 2, "{text}");
    assert!(text.contains(" : index\n") && !text.contains("unrealized"), "{text}");
}

conversion!(
    Unknown,
    "makes-illegal",
    Conversion::new().illegal(["arith"]).pattern_on(
        "arith.addi",
        "to-muli",
        |_, operands, rewriter| {
            let made =
                rewriter.builder()?.binary("arith.muli", operands.get(0)?, operands.get(1)?)?;
            rewriter.replace(&[made])
        }
    )
);

#[test]
fn what_a_pattern_makes_has_to_be_legal() {
    let error = run::<Unknown>(SUM).expect_err("muli is not legal");
    assert!(error.starts_with("t.mlir:2:8: failed to legalize operation 'arith.addi'"), "{error}");
    let reason = "the pattern 'to-muli' made 'arith.muli', which is not legal, and which no pattern converts: add it \
                  to the legal operations";
    assert!(error.contains(reason), "{error}");
}

conversion!(NoPattern, "no-pattern", Conversion::new().illegal(["arith.addi"]));

#[test]
fn an_operation_without_a_pattern_is_named() {
    let error = run::<NoPattern>(SUM).expect_err("has no pattern");
    assert!(error.contains("'arith.addi'") && error.contains("no pattern is for"), "{error}");
}

conversion!(
    Full,
    "full",
    Conversion::new().full().legal(["func", "builtin.module"]).pattern_on(
        "arith.addi",
        "never",
        |op, _, _| Err(phaseline_toolkit::Error::invalid(format!("{} is too hard", op_name(op))))
    )
);

#[test]
fn a_full_conversion_leaves_nothing_and_gives_the_reason() {
    let error = run::<Full>(SUM).expect_err("is left");
    assert!(error.contains("the pattern 'never': arith.addi is too hard"), "{error}");
}

conversion!(
    Panics,
    "pattern-panics",
    Conversion::new()
        .illegal(["arith"])
        .pattern_on("arith.addi", "bad", |_, _, _| panic!("on purpose"))
);
conversion!(
    TypesPanic,
    "types-panic",
    Conversion::new().types(|_, _| panic!("in types")).signatures().legal_where_types_fit()
);

#[test]
fn panics_are_errors() {
    let error = run::<Panics>(SUM).expect_err("panics");
    assert!(error.contains("the pattern 'bad' panicked: on purpose"), "{error}");
    let error = run::<TypesPanic>(SUM).expect_err("panics");
    assert!(error.contains("the conversion of types panicked: in types"), "{error}");
}

conversion!(Misspelt, "misspelt", Conversion::new().illegal(["arith.adi"]));

#[test]
fn a_name_that_there_is_not_is_an_error() {
    let error = run::<Misspelt>(SUM).expect_err("is misspelt");
    assert!(error.contains("names 'arith.adi', and there is no such operation"), "{error}");
}

conversion!(
    Lies,
    "lies",
    Conversion::new().illegal(["arith.addi"]).pattern_on("arith.addi", "lies", |_, _, _| Ok(true))
);
conversion!(
    Erases,
    "erases",
    Conversion::new().illegal(["arith.addi"]).pattern_on(
        "arith.addi",
        "erases",
        |_, _, rewriter| { rewriter.erase() }
    )
);
conversion!(
    Twice,
    "twice",
    Conversion::new().illegal(["arith.addi"]).pattern_on(
        "arith.addi",
        "twice",
        |_, ins, rewriter| {
            rewriter.replace(&[ins.get(0)?])?;
            rewriter.replace(&[ins.get(1)?])
        }
    )
);
conversion!(
    Removes,
    "removes",
    Conversion::new().illegal(["arith.addi"]).pattern_on(
        "arith.addi",
        "removes",
        |op, ins, rewriter| {
            let outcome = phaseline_toolkit::ir::edit::remove(op);
            assert!(outcome.is_err(), "a driver has the operation");
            rewriter.replace(&[ins.get(0)?])
        }
    )
);

#[test]
fn patterns_that_do_wrong_are_errors() {
    let error = run::<Lies>(SUM).expect_err("it did not replace it");
    assert!(
        error.contains("says that it converted the operation, and did not replace it"),
        "{error}"
    );
    let error = run::<Erases>(SUM).expect_err("the result is used");
    assert!(error.contains("'func.return' uses"), "{error}");
    let error = run::<Twice>(SUM).expect_err("it is replaced twice");
    assert!(error.contains("was replaced already"), "{error}");
    assert!(run::<Removes>(SUM).is_ok_and(|text| !text.contains("addi")));
}

#[test]
fn what_fails_leaves_the_ir_as_it_was() {
    let session = super::session::<Unknown>();
    let mut module = session.parse(SUM.as_bytes(), "t.mlir").expect("parses");
    let before = module.as_operation().to_string();
    session.run_pipeline(&mut module, "builtin.module(makes-illegal)").expect_err("fails");
    assert_eq!(module.as_operation().to_string(), before);
    assert!(!Type::index(session.context()).is_integer());
}
