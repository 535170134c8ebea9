//! A session that treats many modules keeps its memory. In a process of its own, which nothing else fills.

use phaseline_toolkit::{Toolkit, upstream};

/// Bytes of this process that are in memory.
fn resident() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("is Linux");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<i64>().ok());
    pages.expect("is a number") * 4096
}

#[test]
fn a_thousand_modules_through_one_session_take_the_memory_of_few() {
    let parts = [upstream::arith(), upstream::cf(), upstream::func(), upstream::tensor()];
    let toolkit = Toolkit::new("test").upstream(parts).upstream([upstream::transforms()]);
    let mut session = toolkit.session();
    let mut first = 0;
    for round in 0..1000 {
        // Each has types, constants and names that no other one has.
        let functions = (0..20).map(|at| {
            let (size, value) = (round * 20 + at + 1, round * 20 + at);
            format!(
                "func.func @f{round}_{at}(%i: index) -> f64 {{\n  %0 = arith.constant dense<{value}.5> : \
                 tensor<{size}x3xf64>\n  %1 = arith.constant 1 : index\n  %2 = tensor.extract %0[%i, %1] : \
                 tensor<{size}x3xf64>\n  return %2 : f64\n}}\n"
            )
        });
        let text: String = functions.collect();
        let mut module = session.parse(text.as_bytes(), &format!("{round}.mlir")).expect("parses");
        session.run_pipeline(&mut module, "builtin.module(canonicalize,cse)").expect("runs");
        drop(module);
        session.clear();
        if round == 100 {
            first = resident();
        }
    }
    let more = resident() - first;
    println!("{more} bytes more behind 1000 modules than behind 100");
    assert!(more < 5 << 20, "{more} bytes more behind 1000 modules than behind 100");
}
