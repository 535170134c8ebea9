//! Patterns in PDL: closures that misbehave, and text that asks for what cannot be done.

use super::{Body, run};
use phaseline_toolkit::{
    Result,
    ir::{
        self,
        pdl::{Patterns, PdlValue},
        rewrite::Rewriter,
    },
    pass::{PassCx, PassResult},
};

const TEXT: &str = "func.func @f(%x: i32, %y: i64) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.muli %0, %0 : i32
  return %1 : i32
}";

/// A pattern on additions with this constraint and this rewrite.
fn pattern(constraint: &str, rewrite: &str) -> Patterns {
    Patterns::pdl(format!(
        "pdl.pattern @test : benefit(1) {{
          %type = pdl.type
          %a = pdl.operand : %type
          %b = pdl.operand : %type
          %op = pdl.operation \"arith.addi\"(%a, %b : !pdl.value, !pdl.value) -> (%type : !pdl.type)
          {constraint}
          pdl.rewrite %op {rewrite}
        }}"
    ))
}

const REPLACE: &str = "{
  %new = pdl.operation \"arith.ori\"(%a, %b : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.replace %op with %new
}";

/// Makes additions subtractions, of operands and types that a rewrite gives.
const RANGES: &str = "pdl.pattern @ranges : benefit(1) {
  %types = pdl.types
  %all = pdl.operands : %types
  %results = pdl.types
  %op = pdl.operation \"arith.addi\"(%all : !pdl.range<value>) -> (%results : !pdl.range<type>)
  pdl.rewrite %op {
    %other, %of = pdl.apply_native_rewrite \"swap\"(%all, %results : !pdl.range<value>, !pdl.range<type>)
      : !pdl.range<value>, !pdl.range<type>
    %new = pdl.operation \"arith.subi\"(%other : !pdl.range<value>) -> (%of : !pdl.range<type>)
    pdl.replace %op with %new
  }
}";

fn with_rewrite(
    rewrite: impl for<'r, 'c> Fn(&mut Rewriter<'r, 'c>, &[PdlValue<'c>]) -> Result<Vec<PdlValue<'c>>>
    + Send
    + Sync
    + 'static,
) -> Patterns {
    let text = "{
      %one = pdl.apply_native_rewrite \"make\"(%type : !pdl.type) : !pdl.value
      pdl.replace %op with (%one : !pdl.value)
    }";
    pattern("", text).rewrite("make", rewrite)
}

/// A test of what becomes of patterns: what messages, or IR, have in them.
macro_rules! tests {
    ($($test:ident, $name:literal, $wanted:expr, $patterns:expr;)*) => {$(
        #[test]
        fn $test() {
            struct Test;
            impl Body for Test {
                const NAME: &'static str = $name;
                fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
                    cx.rewrite_pdl(&$patterns).map(drop)
                }
            }
            let (Ok(said) | Err(said)) = run::<Test>(TEXT);
            for wanted in $wanted {
                assert!(said.contains(wanted), "'{wanted}' is not in:\n{said}");
            }
        }
    )*};
}

tests! {
    a_pattern_rewrites, "pdl-rewrites", ["arith.ori"], pattern("", REPLACE);
    constraints_decide, "pdl-declines", ["arith.addi"],
        pattern("pdl.apply_native_constraint \"no\"(%type : !pdl.type)", REPLACE).constraint("no", |_| Ok(false));
    whole_rewrites_are_rules, "pdl-whole", ["arith.subi"],
        pattern("", "with \"whole\"(%a : !pdl.value)").rewrite("whole", |rewriter, given| {
            let a = given[1].value()?;
            let new = rewriter.builder()?.binary("arith.subi", a, a)?;
            rewriter.replace(given[0].op()?, &[new])?;
            Ok(vec![])
        });
    names_are_known, "pdl-unknown", ["name the constraint 'may', which is not given; there are: might"],
        pattern("pdl.apply_native_constraint \"may\"(%type : !pdl.type)", REPLACE).constraint("might", |_| Ok(true));
    rewrites_are_known, "pdl-unknown-rewrite", ["name the rewrite 'whole', which is not given; there is none"],
        pattern("", "with \"whole\"");
    panics_are_messages, "pdl-panics", ["t.mlir:2:", "panicked: no luck", "[PDL constraint no]"],
        pattern("pdl.apply_native_constraint \"no\"(%op : !pdl.operation)", REPLACE)
            .constraint("no", |_| panic!("no luck"));
    kinds_of_arguments_are_checked, "pdl-kinds", ["a type is taken as a value [PDL rewrite make]"],
        with_rewrite(|_, given| Ok(vec![given[0].value()?.into()]));
    numbers_of_arguments_are_checked, "pdl-arity", ["index out of bounds", "the pattern passes a type [PDL rewrite make]"],
        with_rewrite(|_, given| Ok(vec![given[1].value()?.into()]));
    kinds_of_results_are_checked, "pdl-results", ["gives a type, and the pattern takes a value"],
        with_rewrite(|_, given| Ok(vec![given[0].ty()?.into()]));
    numbers_of_results_are_checked, "pdl-nothing", ["gives nothing, and the pattern takes a value"],
        with_rewrite(|_, _| Ok(vec![]));
    types_of_replacements_are_checked, "pdl-types", ["a value of type i32 was to become one of type i1"],
        with_rewrite(|rewriter, _| {
            let builder = rewriter.builder()?;
            Ok(vec![builder.constant_int(builder.parse_type("i1")?, 1)?.into()])
        });
    nothing_is_erased_in_the_middle, "pdl-erases", ["nothing is erased"],
        with_rewrite(|rewriter, _| {
            let builder = rewriter.builder()?;
            let one = builder.constant_int(builder.parse_type("i32")?, 1)?;
            rewriter.erase(ir::edit::defining_op(one).expect("an operation"))?;
            Ok(vec![one.into()])
        });
    what_has_uses_stays, "pdl-uses", ["t.mlir:2:", "'arith.addi'", "[PDL pdl.erase]"],
        pattern("", "{ pdl.erase %op }");
    results_are_counted, "pdl-count", ["take result 1 of an operation without the type of that"],
        pattern("", "{
          %new = pdl.operation \"arith.ori\"(%a, %b : !pdl.value, !pdl.value) -> (%type : !pdl.type)
          %other = pdl.result 1 of %new
          pdl.replace %op with (%other : !pdl.value)
        }");
    nothing_goes_twice, "pdl-twice", ["'arith.addi'", "[PDL "],
        pattern("", "{ pdl.replace %op with (%a : !pdl.value) pdl.erase %op }");
    constraints_only_read, "pdl-reads", ["IR cannot be changed here"],
        pattern("pdl.apply_native_constraint \"no\"(%op : !pdl.operation)", REPLACE).constraint("no", |given| {
            let op = given[0].op()?;
            let builder = ir::Builder::before(op)?;
            ir::set_attr(op, "x", builder.str_attr("y"))?;
            Ok(true)
        });
    types_are_not_inferred, "pdl-infers", ["make arith.ori without the types of its results: write -> (%type : !pdl.type)"],
        pattern("", "{
          %new = pdl.operation \"arith.ori\"(%a : !pdl.value)
          pdl.replace %op with %new
        }");
    ranges_are_given_and_taken, "pdl-ranges", ["arith.subi %arg0, %arg0"],
        Patterns::pdl(RANGES).rewrite("swap", |_, given| {
            let mut values = given[0].values()?.to_vec();
            values.reverse();
            Ok(vec![values.into(), given[1].types()?.to_vec().into()])
        });
    kinds_of_ranges_are_checked, "pdl-range-kinds", ["a range of values is taken as a value [PDL rewrite swap]"],
        Patterns::pdl(RANGES).rewrite("swap", |_, given| Ok(vec![given[0].value()?.into()]));
    ranges_are_results, "pdl-range-results",
        ["gives a range of values, and the pattern takes a range of values, a range of types"],
        Patterns::pdl(RANGES).rewrite("swap", |_, given| Ok(vec![given[0].clone()]));
    ranges_of_others_are_refused, "pdl-range-others", ["has a !pdl.range<operation>, which closures do not take"],
        pattern("", "{
          %all = pdl.apply_native_rewrite \"make\"(%type : !pdl.type) : !pdl.range<operation>
          pdl.erase %op
        }").rewrite("make", |_, _| Ok(vec![]));
    text_is_checked, "pdl-text", ["not valid"], Patterns::pdl("pdl.pattern {");
    other_operations_are_named, "pdl-other", ["have a func.func; a pdl.pattern is wanted"],
        Patterns::pdl("func.func private @f()");
    patterns_end, "pdl-endless", ["without an end"], pattern("", "{
          %new = pdl.operation \"arith.addi\"(%b, %a : !pdl.value, !pdl.value) -> (%type : !pdl.type)
          pdl.replace %op with %new
        }");
}
