//! Rules and the driver that applies them.

use crate::{
    Result, Session,
    ir::{
        self, Op, edit,
        rewrite::{Rewriter, Rule, apply, apply_except},
        root,
    },
};

const TEXT: &str = r#"
  func.func @f(%x: i32, %y: i64) -> i32 {
    %0 = arith.addi %x, %x : i32
    %1 = arith.muli %0, %x : i32
    %2 = arith.addi %1, %x {kept} : i32
    %3 = arith.extsi %2 : i32 to i64
    return %2 : i32
  }"#;

/// The operations after one rule, or its error.
fn after(name: &'static str, root_name: &'static str, rule: Apply) -> String {
    let session = Session::new();
    let module = session.parse(TEXT.as_bytes(), "test.mlir").expect("is valid");
    let rule = Rule { name, root: root_name, benefit: 1, apply: rule };
    match apply_except(root(&module), &[rule], &["kept"]) {
        Ok(changes) => {
            let names = edit::walk(root(&module)).into_iter().map(ir::op_name);
            format!("{changes}: {}", names.collect::<Vec<_>>().join(" "))
        }
        Err(error) => format!("{}: {}", error.location, error.message),
    }
}

type Apply = for<'c> fn(&mut Rewriter<'_, 'c>, Op<'c>) -> Result<bool>;

#[test]
fn what_is_dead_after_a_change_goes_and_what_has_an_attribute_stays() {
    // The product is replaced by its operand, so that the first sum is dead; nothing reads the extension.
    let replace: Apply = |r, op| {
        let x = ir::operands(op)[1];
        r.replace(op, &[x]).map(|()| true)
    };
    assert_eq!(after("replace", "arith.muli", replace), "1: func.func arith.addi func.return");
    let seen: Apply = |r, op| {
        let b = r.before(op)?;
        let [x, y] = ir::operands(op)[..] else { return Ok(false) };
        let made = b.binary("arith.subi", x, y)?;
        r.replace(op, &[made]).map(|()| true)
    };
    let found = after("seen", "arith.addi", seen);
    assert_eq!(found, "1: func.func arith.subi arith.muli arith.addi func.return");
}

#[test]
fn handles_of_what_was_erased_do_no_harm() {
    let twice: Apply = |r, op| {
        let x = ir::operands(op)[1];
        r.replace(op, &[x])?;
        // The operation is in no block, and has no operands.
        assert!(ir::operands(op).is_empty() && r.before(op).is_err());
        assert!(r.erase(op).is_err());
        Ok(true)
    };
    assert_eq!(after("twice", "arith.muli", twice), "1: func.func arith.addi func.return");
}

#[test]
fn what_does_not_fit_is_an_error_at_the_operation() {
    let used: Apply = |r, op| r.erase(op).map(|()| true);
    let found = after("used", "arith.muli", used);
    assert!(found.contains("test.mlir\":4:10"), "{found}");
    assert!(
        found.contains("'arith.muli' cannot be removed: its results are used [rule used]"),
        "{found}"
    );
    let other: Apply = |r, op| {
        let function = edit::entry_block(ir::parent(op).expect("a function")).expect("a block");
        r.replace(op, &[edit::arguments(function)[1]]).map(|()| true)
    };
    let found = after("other", "arith.muli", other);
    assert!(found.contains("a value of type i32 was to become one of type i64"), "{found}");
    let into: Apply = |r, op| r.move_before(ir::parent(op).expect("a function"), op).map(|()| true);
    assert!(after("into", "arith.muli", into).contains("cannot be moved there"));
    let count: Apply = |r, op| r.replace(op, &[]).map(|()| true);
    assert!(after("count", "arith.muli", count).contains("has 1 results"));
    let gone: Apply = |r, op| {
        let y = ir::operands(op)[1];
        let old = ir::result0(op)?;
        r.replace(op, &[y])?;
        // The result of what was erased is no value any more.
        r.replace_uses(y, old).map(|()| true)
    };
    let found = after("gone", "arith.muli", gone);
    assert!(found.contains("a value of another module"), "{found}");
    let panics: Apply = |_, _| panic!("on purpose");
    let found = after("panics", "arith.muli", panics);
    assert!(found.contains("the rule panicked: on purpose"), "{found}");
}

#[test]
fn rules_without_an_end_are_an_error() {
    let session = Session::new();
    let module = session.parse(TEXT.as_bytes(), "test.mlir").expect("is valid");
    let endless: Apply = |r, op| {
        let operands = ir::operands(op);
        r.set_operand(op, 0, operands[1]).map(|()| true)
    };
    let rule = Rule { name: "endless", root: "arith.muli", benefit: 1, apply: endless };
    let error = apply(root(&module), &[rule]).expect_err("has no end");
    assert!(error.message.contains("rules endless change the operations without an end"));
}
