//! Requests of safe code that must not crash. Code that the compiler refuses is in doc tests
//! ([`super::super::root`], [`super::super::edit`]).

use super::{module, only};
use crate::{
    Result, Session,
    ir::{
        Builder, Op, constant::Elements, edit, func, graph, op_name, ops_of, result0, root,
        view::OpView,
    },
    pass::{OptionValues, Pass, PassError, PassOp},
    passes::register,
};
use melior::ir::{Attribute, Module, ValueLike, operation::OperationLike};

fn last<'a>(module: &'a Module<'_>) -> Op<'a> {
    let function = ops_of(root(module))[0];
    *ops_of(function).last().expect("a return")
}

fn text<T>(outcome: Result<T>) -> String {
    outcome.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_result_that_is_not_there_is_an_error() {
    let session = Session::new();
    let module = module(&session);
    let end = last(&module);
    assert!(text(result0(end)).contains("'func.return' has no result"));
    let [conv, _] = only::<graph::Conv>(&module)[..] else { panic!("two convolutions") };
    assert_eq!(result0(conv.op()).ok(), Some(conv.y()));
}

#[test]
fn operands_and_arguments_are_counted() {
    let session = Session::new();
    let module = module(&session);
    let [conv, _] = only::<graph::Conv>(&module)[..] else { panic!("two convolutions") };
    let end = last(&module);
    let error = text(edit::set_operand(end, 1, conv.x()));
    assert!(error.contains("'func.return' has 1 operands, and operand 1"), "{error}");
    assert!(edit::set_operands(end, &[conv.x(), conv.x()]).is_err());
    let block = edit::entry_block(ops_of(root(&module))[0]).expect("a body");
    let (ty, location) = (conv.x().r#type(), end.location());
    assert!(edit::insert_argument(block, 4, ty, location).is_err());
    assert!(edit::insert_argument(block, 3, ty, location).is_ok());
    assert!(text(edit::erase_argument(block, 0)).contains("in use"));
    assert!(text(edit::erase_argument(block, 4)).contains("4 arguments"));
    assert!(edit::erase_argument(block, 3).is_ok());
}

#[test]
fn a_removed_operation_can_still_be_read() {
    let mut session = Session::new();
    {
        let module = module(&session);
        let [first, second] = only::<graph::Conv>(&module)[..] else { panic!("two") };
        assert!(text(edit::remove(first.op())).contains("its results are used"));
        assert!(edit::remove(second.op()).is_ok());
        assert_eq!(op_name(second.op()), "graph.conv");
        assert_eq!((second.op().operand_count(), second.group()), (0, 4));
        assert!(graph::Conv::of(second.op()).is_none());
        assert!(edit::remove(second.op()).is_err(), "it is in no block");
        assert_eq!(only::<graph::Conv>(&module).len(), 1);
        // The operations inside stay as well, and a builder goes to where its place was.
        let (function, end) = (ops_of(root(&module))[0], last(&module));
        let builder = Builder::before(end).expect("is in a block");
        assert!(edit::remove(end).is_ok());
        let one = builder.constant_int(builder.int(8), 1).expect("a constant");
        let made = edit::defining_op(one).expect("is made");
        assert!(made.next_in_block().is_none());
        assert!(edit::remove(function).is_ok());
        assert_eq!(op_name(made), "arith.constant");
        assert!(ops_of(root(&module)).is_empty());
        drop(module);
    }
    session.clear();
}

#[test]
fn what_is_used_from_outside_is_not_removed() {
    let session = Session::new();
    let text = "%0 = scf.execute_region -> i32 {
      %1 = arith.constant 1 : i32
      scf.yield %1 : i32
    }";
    let module = session.parse(text.as_bytes(), "test.mlir").expect("is right");
    let outer = ops_of(root(&module))[0];
    let one = result0(ops_of(outer)[0]).expect("a constant");
    // IR as this is not valid, but may be made.
    let user = Builder::before(outer).and_then(|b| b.binary("arith.addi", one, one));
    let error = edit::remove(outer).expect_err("its inside is used").to_string();
    assert!(error.contains("what is in it is used"), "{error}");
    let user = user.ok().and_then(edit::defining_op).expect("an addition");
    assert!(edit::remove(user).is_ok() && edit::remove(outer).is_ok());
}

fn removes<'c>(function: PassOp<'c>, _: &OptionValues) -> std::result::Result<(), PassError<'c>> {
    let [inner] = ops_of(function)[..] else { return Err(PassError::new("one was left")) };
    assert!(edit::remove(function).is_err());
    let module = function.parent_operation().expect("a module");
    // The next function may be under way on another thread.
    assert!(ops_of(module).into_iter().all(|sibling| edit::remove(sibling).is_err()));
    let builder = Builder::before(inner)?;
    let made = edit::defining_op(builder.index(1)?).expect("is made");
    edit::remove(made)?;
    Ok(())
}

#[test]
fn a_pass_keeps_what_it_was_given() {
    static PASS: Pass = Pass {
        name: "test-removal",
        summary: "Try to remove what a pass runs on",
        anchor: "func.func",
        options: &[],
        dialects: &["arith"],
        run: removes,
    };
    register(&PASS).expect("is new");
    let session = Session::new();
    let text = b"func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n";
    let mut module = session.parse(text, "test.mlir").expect("parses");
    let pipeline = "builtin.module(func.func(test-removal))";
    session.run_pipeline(&mut module, pipeline).expect("runs");
    let functions = ops_of(root(&module));
    assert_eq!(functions.len(), 2);
    assert!(functions.into_iter().all(|function| edit::remove(function).is_ok()));
}

#[test]
fn numbers_have_types_of_numbers() {
    let session = Session::new();
    let module = module(&session);
    let builder = Builder::before(last(&module)).expect("is in a block");
    let tensor = builder.tensor(&[2], builder.f32());
    assert!(builder.constant(tensor, 1.0).is_err());
    assert!(builder.constant_int(builder.f32(), 1).is_err());
    assert!(builder.constant(builder.index_type(), 1.0).is_ok());
    assert_eq!(func::memref_like(builder.f32()), builder.f32());
    assert_eq!(func::memref_like(tensor).to_string(), "memref<2xf32>");
}

#[test]
fn elements_beyond_the_last_are_zero() {
    let session = Session::new();
    for text in ["dense<[false, true]> : tensor<2xi1>", "dense<[0, 1]> : tensor<2xi16>"] {
        let attribute = Attribute::parse(session.context(), text).expect("is right");
        let elements = Elements::new(attribute).expect("has numbers");
        assert_eq!([0, 1, 2, usize::MAX].map(|index| elements.int(index)), [0, 1, 0, 0]);
    }
    let floats = Attribute::parse(session.context(), "dense<[0.5, 1.0]> : tensor<2xf64>");
    let floats = Elements::new(floats.expect("is right")).expect("has numbers");
    assert_eq!([1, 2].map(|index| floats.float(index)), [1.0, 0.0]);
}
