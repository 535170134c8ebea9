//! Attempts to crash, hang or read freed memory from safe code. Each is refused, or is an error, and the session goes on.

use super::{Body, run, toolkit};
use phaseline_toolkit::{
    Session,
    ir::{
        self, Attribute, Builder, Location, Module, Op, OpSpec, Type, edit, elements, func,
        op_name, operands, ops_of, result0,
    },
    pass::{PassCx, PassResult},
};

const TEXT: &str =
    "func.func @f(%x: i32) -> i32 {\n  %0 = arith.addi %x, %x : i32\n  return %0 : i32\n}";

fn find<'a>(module: &'a Module<'_>, name: &str) -> Op<'a> {
    let mut all = edit::walk(ir::root(module)).into_iter();
    all.find(|op| op_name(*op) == name).unwrap_or_else(|| panic!("has {name}"))
}

/// A session with a module, on which an attempt is made; both are as good as before.
fn with(attempt: impl for<'a> Fn(&'a Session, &'a Module<'a>)) {
    let session = toolkit().session();
    let module = session.parse(TEXT.as_bytes(), "t.mlir").expect("parses");
    attempt(&session, &module);
    let mut other = session.parse(TEXT.as_bytes(), "t.mlir").expect("parses");
    session.run_pipeline(&mut other, "builtin.module(canonicalize,cse)").expect("runs");
    drop(module);
}

fn at<'a>(module: &'a Module<'_>) -> Builder<'a> {
    Builder::before(find(module, "func.return")).expect("is in a block")
}

#[test]
fn parts_of_another_session_are_refused() {
    with(|_, module| {
        let other = toolkit().session();
        let foreign = other.parse(TEXT.as_bytes(), "t.mlir").expect("parses");
        let (b, there) = (at(module), at(&foreign));
        let value = result0(find(&foreign, "arith.addi")).expect("has one");
        let own = find(module, "arith.addi");
        let say = |error: phaseline_toolkit::Error| error.to_string();
        let refused = [
            b.binary("arith.addi", value, value).map(drop).map_err(say),
            ir::set_attr(own, "x", there.str_attr("hello hello hello")).map_err(say),
            b.op1("arith.constant", &[], there.int(32)).map(drop).map_err(say),
            b.op1_with("arith.constant", &[], b.int(32), vec![("value", there.i64_attr(1))])
                .map(drop)
                .map_err(say),
            b.with_location(there.location)
                .create("func.return", OpSpec::default())
                .map(drop)
                .map_err(say),
            b.copy(find(&foreign, "arith.addi")).map(drop).map_err(say),
            ir::dictionary(b.context, &[("a".to_owned(), there.i64_attr(1))])
                .map(drop)
                .map_err(say),
            b.tensor_type(&[2], there.f32()).map(drop).map_err(say),
            func::add_argument(b.context, ops_of(ir::root(module))[0], there.f32(), vec![])
                .map(drop)
                .map_err(say),
            ir::replace_uses(result0(own).expect("has one"), value).map_err(say),
            ir::set_operand(own, 0, value).map_err(say),
            ir::analysis::alias(result0(own).expect("has one"), value).map(drop).map_err(say),
        ];
        for outcome in refused {
            let error = outcome.expect_err("is of another session");
            assert!(error.contains("of another session"), "{error}");
        }
    });
}

#[test]
fn values_of_another_module_are_refused() {
    with(|session, module| {
        let other = session.parse(TEXT.as_bytes(), "t.mlir").expect("parses");
        let value = result0(find(&other, "arith.addi")).expect("has one");
        let own = find(module, "arith.addi");
        for outcome in [
            at(module).binary("arith.addi", value, value).map(drop),
            ir::set_operand(own, 0, value),
            ir::replace_uses(result0(own).expect("has one"), value),
            ir::move_before(own, find(&other, "arith.addi")),
        ] {
            outcome.expect_err("is of another module");
        }
    });
}

#[test]
fn deep_text_is_refused() {
    with(|_, module| {
        let b = at(module);
        let deep =
            |open: &str, close: &str| format!("{}1{}", open.repeat(300_000), close.repeat(300_000));
        b.parse_attr(&deep("[", "]")).expect_err("is deep");
        b.parse_type(&deep("tuple<", ">")).expect_err("is deep");
        b.parse_attr(&format!("affine_map<(d0) -> ({})>", deep("(", ")"))).expect_err("is deep");
        b.parse_attr("dense<").expect_err("is cut off");
    });
}

#[test]
fn types_that_there_are_not_are_refused() {
    with(|_, module| {
        let b = at(module);
        b.int_type(1 << 30).expect_err("is too wide");
        b.tensor_type(&[-5], b.f32()).expect_err("is negative");
        b.tensor_type(&[2], b.parse_type("() -> ()").expect("is one")).expect_err("is no element");
        elements::dense(b.f32(), &[0; 4]).expect_err("has no elements");
        let ty = b.tensor_type(&[4], b.f32()).expect("is one");
        for bytes in [&[0_u8; 3][..], &[]] {
            elements::dense(ty, bytes).expect_err("are too few");
        }
        elements::dense(b.parse_type("tensor<?xf32>").expect("is one"), &[0; 4])
            .expect_err("is dynamic");
        b.constant(b.parse_type("() -> ()").expect("is one"), 1.0).expect_err("is no number");
    });
}

#[test]
fn names_of_operations_are_checked() {
    with(|_, module| {
        let b = at(module);
        for name in ["", "nope", "nope.nope", "arith.nope"] {
            b.create(name, OpSpec::default()).expect_err(name);
        }
        ir::set_attr(find(module, "arith.addi"), "", b.i64_attr(1)).expect_err("has no name");
    });
}

#[test]
fn operations_without_parts_do_no_harm() {
    with(|session, module| {
        let b = at(module);
        for name in [
            "cf.br",
            "cf.cond_br",
            "func.func",
            "scf.for",
            "scf.if",
            "memref.subview",
            "arith.constant",
        ] {
            let Ok(op) = b.create(name, OpSpec::default()) else { continue };
            assert!(!ir::verify(op), "{name}");
            let _ = (op.to_string(), ops_of(op).len(), operands(op).len());
            let _ = (ir::interface::call(op).is_some(), ir::interface::is_pure(op));
            assert!(edit::fold(op).is_none(), "{name}");
            let _ = edit::remove(op);
        }
        for name in
            ["arith.addi", "arith.constant", "memref.subview", "scf.if", "func.call", "arith.cmpi"]
        {
            let spec = OpSpec { infer: true, ..OpSpec::default() };
            assert!(b.create(name, spec).is_err(), "{name}");
        }
        session.clear_diagnostics();
    });
}

#[test]
fn ir_that_is_not_valid_runs_through_nothing() {
    let session = toolkit().session();
    let mut module = session.parse(TEXT.as_bytes(), "t.mlir").expect("parses");
    at(&module).create("cf.cond_br", OpSpec::default()).expect("is made");
    let error = session.run_pipeline(&mut module, "builtin.module(canonicalize)");
    error.expect_err("is not valid");
    let mut other = toolkit().session().parse(b"", "t.mlir").map(|_| ()).is_ok();
    other &= edit::remove(find(&module, "cf.cond_br")).is_ok();
    assert!(other);
}

#[test]
fn what_was_removed_is_read_as_before() {
    with(|_, module| {
        let op = find(module, "func.return");
        edit::remove(op).expect("nothing uses it");
        edit::remove(op).expect_err("it is gone");
        assert_eq!((op_name(op), operands(op).len()), ("func.return", 0));
        edit::remove(ops_of(ir::root(module))[0]).expect("nothing uses it");
        assert_eq!(op_name(find_again(op)), "func.return");
    });
}

fn find_again(op: Op<'_>) -> Op<'_> {
    op
}

#[test]
fn a_module_of_another_session_is_refused() {
    let (one, two) = (toolkit().session(), toolkit().session());
    let mut module = one.parse(TEXT.as_bytes(), "t.mlir").expect("parses");
    let error = two.run_pipeline(&mut module, "builtin.module(cse)").expect_err("is another's");
    assert!(error.to_string().contains("of another session"), "{error}");
}

#[test]
fn pipelines_are_no_deeper_than_can_be_parsed() {
    let session = toolkit().session();
    let mut module = session.parse(b"", "t.mlir").expect("parses");
    let text = format!("builtin.module({}{})", "a(".repeat(100_000), ")".repeat(100_000));
    session.run_pipeline(&mut module, &text).expect_err("is deep");
    session.parse(&[b'('; 100_000], "t.mlir").expect_err("is deep");
}

/// A pass that tries to remove the operation that it runs on.
struct Removes;
impl Body for Removes {
    const NAME: &'static str = "removes-itself";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let op = cx.op();
        edit::remove(op).expect_err("a pass runs on it");
        let parent = ir::parent(op).expect("has one");
        edit::remove(parent).expect_err("a pass runs in it");
        Ok(())
    }
}

/// Changes functions beside the one that it runs on, which others run on.
struct Siblings;
impl Body for Siblings {
    const NAME: &'static str = "siblings";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let own = cx.op();
        let module = ir::parent(own).ok_or_else(|| cx.error(own, "has none"))?;
        let b = Builder::before(own)?;
        for other in ops_of(module) {
            if edit::same(other, own) {
                ir::set_attr(other, "mark", b.i64_attr(1))?;
                continue;
            }
            let inner = ops_of(other);
            let x = func::argument(other, 0).ok_or_else(|| cx.error(own, "has none"))?;
            ir::set_attr(other, "mark", b.i64_attr(1)).expect_err("is another's");
            ir::set_operand(inner[0], 0, x).expect_err("is another's");
            ir::move_before(inner[0], inner[1]).expect_err("is another's");
            edit::remove(inner[1]).expect_err("is another's");
            Builder::before(inner[0])?.index(1).expect_err("is another's");
            b.copy(own).expect_err("is the module's");
        }
        Ok(())
    }
}

#[test]
fn passes_change_nothing_beside_what_they_run_on() {
    let text: String = (0..64).map(|at| TEXT.replace("@f", &format!("@f{at}")) + "\n").collect();
    let text = run::<Siblings>(&text).expect("all is refused");
    assert_eq!(text.matches("mark = 1").count(), 64);
}

/// Keeps a place of another session in its error.
struct Lifts;
impl Body for Lifts {
    const NAME: &'static str = "lifts";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let other = toolkit().session();
        let module = other.parse(TEXT.as_bytes(), "other.mlir").expect("parses");
        let error = cx.error(find(&module, "arith.addi"), "is another's");
        drop(module);
        drop(other);
        Err(error)
    }
}

#[test]
fn passes_keep_to_their_own() {
    run::<Removes>(TEXT).expect("removed nothing");
    let error = run::<Lifts>(TEXT).expect_err("fails");
    assert!(
        error.contains("'arith.addi' op is another's") && !error.contains("other.mlir"),
        "{error}"
    );
}

#[test]
fn handles_of_melior_that_are_null_are_none() {
    with(|session, _| {
        assert!(Attribute::parse(session.context(), "dense<").is_none());
        assert!(Type::parse(session.context(), "tensor<").is_none());
        assert_eq!(Location::unknown(session.context()).to_string(), "loc(unknown)");
    });
}
