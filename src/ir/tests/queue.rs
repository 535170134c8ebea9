//! Completion of work on several queues.

use super::super::{
    Op, edit, func,
    queue::{Schedule, Starters},
    root,
};
use crate::Session;

/// Commands `c0` to `c4`: `c0` is a stem on queue 0. Of its two branches `c1` and `c2`, the second
/// is on queue 1. `c3` on queue 0 is ordered by nothing, and `c4` comes after the host has waited
/// for the second branch.
const MODULE: &str = r#"
  func.func @main(%t: memref<2xi64>) {
    tir.call_extern @c0 args [] {phl.device = "dsp", phl.queue = 0 : i64}
    tir.submit @submit queue 0 to %t[0] : memref<2xi64>
    tir.call_extern @c1 args [] {phl.device = "dsp", phl.queue = 0 : i64}
    tir.wait @after queue 1 for %t[0] : memref<2xi64>
    tir.call_extern @c2 args [] {phl.device = "dsp", phl.queue = 1 : i64}
    tir.submit @submit queue 1 to %t[1] : memref<2xi64>
    tir.call_extern @c3 args [] {phl.device = "dsp", phl.queue = 0 : i64}
    tir.wait @wait_for for %t[1] : memref<2xi64>
    tir.call_extern @c4 args [] {phl.device = "dsp", phl.queue = 0 : i64}
    tir.call_extern @wait args [] {phl.device = "dsp"}
    tir.call_extern @c5 args [] {phl.device = "dsp", phl.queue = 1 : i64}
    return
  }
  func.func private @wait() attributes {phl.target = "dsp", phl.transfer = "wait"} { return }
"#;

fn names<'c>(schedule: &Schedule<'c>, test: impl Fn(usize, usize) -> bool) -> Vec<String> {
    let count = schedule.commands.len();
    let pairs = (0..count).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    pairs.filter(|(a, b)| test(*a, *b)).map(|(a, b)| format!("{a}<{b}")).collect()
}

#[test]
fn knows_what_is_done_before_what() {
    let session = Session::new();
    let module = session.parse(MODULE.as_bytes(), "test.mlir").expect("is right");
    let module = root(&module);
    let main = func::main(module).expect("is there");
    let block = edit::entry_block(main).expect("has a body");
    let schedule = Schedule::of(block, &Starters::of(module, "dsp"));
    assert_eq!(schedule.commands.len(), 6);
    let unordered = names(&schedule, |a, b| !schedule.commands[b].follows(&schedule.commands[a]));
    assert_eq!(unordered, ["1<2", "2<3"]);
    let last = |index: usize| -> Option<usize> {
        let op = schedule.last_beside(&[schedule.commands[index].op])?;
        schedule.commands.iter().position(|command| edit::same(command.op, op))
    };
    let lasts: Vec<_> = (0..6).map(|index| last(index).expect("is a command")).collect();
    assert_eq!(lasts, [0, 2, 3, 3, 4, 5]);
    let others: [Op<'_>; 1] = [main];
    assert!(schedule.last_beside(&others).is_none());
}
