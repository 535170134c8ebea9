use crate::{Result, Session, Toolkit, ir, upstream};

fn session() -> Session {
    let parts = [
        upstream::arith(),
        upstream::cf(),
        upstream::func(),
        upstream::math(),
        upstream::memref(),
        upstream::scf(),
    ];
    Toolkit::new("a tool").upstream(parts).session()
}

/// Reduces a text while a question holds. Checks that each question is about valid IR, and that nothing more can be left out.
/// Gives the text and the number of questions.
fn reduced(text: &str, is_interesting: impl Fn(&str) -> bool) -> (String, usize) {
    let (session, other) = (session(), session());
    let run = |text: &str| {
        let module = session.parse(text.as_bytes(), "the text").expect("is valid");
        let mut ask =
            |text: &str| other.parse(text.as_bytes(), "a question").map(|_| is_interesting(text));
        let (small, asked) = session.reduce(&module, &mut ask).expect("is reduced");
        assert!(ir::verify(ir::root(&small)));
        (ir::print::print_plain(ir::root(&small)).expect("is text"), asked)
    };
    let (small, asked) = run(text);
    assert_eq!((small.clone(), asked), run(text), "twice the same");
    assert_eq!(small, run(&small).0, "a fixed point");
    (small, asked)
}

/// The lines in the body of the only function.
fn body(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with("func.func"));
    lines.skip(1).take_while(|line| *line != "}").collect()
}

const BRANCHES: &str = "
    func.func @f(%a: i32, %b: f32, %c: i1) -> f32 {
      cf.cond_br %c, ^yes(%b, %a : f32, i32), ^no(%a : i32)
    ^yes(%x: f32, %y: i32):
      %0 = arith.addi %y, %a : i32
      cf.br ^end(%0 : i32)
    ^no(%z: i32):
      %1 = arith.divsi %z, %z : i32
      cf.br ^end(%1 : i32)
    ^end(%q: i32):
      %2 = arith.sitofp %q : i32 to f32
      return %2 : f32
    }";

#[test]
fn a_branch_takes_one_side_and_blocks_are_merged() {
    for name in ["arith.divsi", "arith.addi", "arith.sitofp"] {
        let (small, _) = reduced(BRANCHES, |text| text.contains(name));
        assert_eq!(body(&small).len(), 2, "{small}");
        assert!(body(&small)[0].contains(name) && body(&small)[1] == "return", "{small}");
    }
}

#[test]
fn branches_that_are_needed_stay_without_arguments() {
    let (small, _) = reduced(BRANCHES, |text| text.contains("^bb3"));
    let names = body(&small).into_iter().map(|line| line.split(' ').next().unwrap_or_default());
    let names: Vec<_> = names.filter(|name| !name.starts_with('^')).collect();
    assert_eq!(names, ["cf.cond_br", "cf.br", "cf.br", "return"], "{small}");
    assert!(small.contains("func.func @f(%arg0: i1) {") && !small.contains("bb1("), "{small}");
}

#[test]
fn a_region_takes_the_place_of_its_operation() {
    let text = "
        func.func @f(%n: index, %c: i1, %x: f32) -> f32 {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %r = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> (f32) {
            %s = scf.if %c -> (f32) {
              %e = math.exp %acc : f32
              scf.yield %e : f32
            } else {
              scf.yield %x : f32
            }
            scf.yield %s : f32
          }
          %l = math.log %r : f32
          return %l : f32
        }";
    let session = session();
    let module = session.parse(text.as_bytes(), "the text").expect("is valid");
    let root = ir::root(&module);
    // The loop, and the first side of the branch.
    assert_eq!(super::regions::places(root).len(), 3);
    assert!(super::regions::inline(root, 0..2));
    assert!(ir::verify(root));
    let small = ir::print::print_plain(root).expect("is text");
    let inlined = ["%0 = math.exp %arg2 : f32", "%1 = math.log %0 : f32", "return %1 : f32"];
    assert!(body(&small).ends_with(&inlined), "{small}");
    let (small, _) = reduced(text, |text| text.contains("math.exp"));
    assert_eq!(body(&small), ["%0 = math.exp %arg0 : f32", "return"], "{small}");
}

#[test]
fn signatures_and_calls_lose_what_is_not_used() {
    let text = "
        func.func @main(%a: f32, %b: i32) -> (f32, i32) {
          %0:2 = call @g(%a, %b) : (f32, i32) -> (f32, i32)
          %1:2 = call @g(%0#0, %b) : (f32, i32) -> (f32, i32)
          return %1#0, %0#1 : f32, i32
        }
        func.func @g(%a: f32 {my.note}, %b: i32) -> (f32, i32) {
          %0 = math.exp %a : f32
          return %0, %b : f32, i32
        }";
    let (small, _) = reduced(text, |text| text.contains("math.exp") && text.contains("call @g"));
    assert!(small.contains("call @g(%arg0) : (f32) -> ()"), "{small}");
    assert!(small.contains("func.func @g(%arg0: f32) {"), "{small}");
}

#[test]
fn verifiers_that_crash_refuse_a_change() {
    // MLIR reads the values of cases without asking for them.
    let text = "
        func.func @f(%a: i32) {
          cf.switch %a : i32, [default: ^one, 1: ^two]
        ^one:
          return
        ^two:
          %0 = arith.constant 1 : i32
          return
        }";
    let (small, _) = reduced(text, |text| text.contains("cf.switch"));
    assert_eq!(small.matches("return").count(), 1, "{small}");
}

#[test]
fn questions_are_few_for_much_ir() {
    let chain: String =
        (0..400).map(|i| format!("%{} = arith.addi %{i}, %{i} : i32\n", i + 1)).collect();
    let text = format!(
        "func.func @f(%0: i32) -> i32 {{\n{chain}%x = arith.muli %200, %0 : i32\nreturn %400 : i32\n}}"
    );
    let (small, asked) = reduced(&text, |text| text.contains("arith.muli"));
    assert_eq!(body(&small).len(), 2, "{small}");
    assert!(asked < 40, "{asked} questions");
}

#[test]
fn a_question_that_fails_ends_the_reduction() -> Result<()> {
    let session = session();
    let module = session.parse(BRANCHES.as_bytes(), "the text")?;
    let mut asked = 0;
    let mut ask = |_: &str| {
        asked += 1;
        match asked {
            1 => Ok(true),
            _ => Err(crate::Error::invalid("the disk is full")),
        }
    };
    let error = session.reduce(&module, &mut ask).expect_err("fails");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(asked, 2);
    let never = session.reduce(&module, &mut |_| Ok(false)).expect_err("fails");
    assert!(never.to_string().contains("is not of interest"), "{never}");
    Ok(())
}
