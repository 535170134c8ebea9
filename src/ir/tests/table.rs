//! The table of operations that is made of ODS.

use crate::{
    graph::{OpDecl, OpTable, text::test_table},
    ir::graph,
};

fn table() -> OpTable {
    OpTable::of(graph::OPS).expect("is right")
}

#[test]
fn declarations_print_as_they_parse() {
    let lines: Vec<String> = table().iter().map(OpDecl::to_string).collect();
    let read = OpTable::parse(&lines.join("\n")).expect("parses");
    assert_eq!(read.iter().map(OpDecl::to_string).collect::<Vec<_>>(), lines);
}

#[test]
fn the_graph_dialect_is_known() {
    let table = table();
    assert!(table.len() > 130, "{}", table.len());
    let text = |name: &str| table.get(name).map(OpDecl::to_string).unwrap_or_default();
    assert_eq!(
        text("conv"),
        "conv(x, w, b?) -> y {strides: ints = [], pads: ints = [], dilations: ints = [], group: int = 1}"
    );
    assert_eq!(text("add"), "add(a, b) commutative -> y");
    assert!(text("softmax").contains("axis: int = -1"));
    assert!(text("layer_norm").contains("epsilon: float = 1e-5"));
    assert!(text("pad").contains("mode: str = 'constant'"));
    assert!(table.get("split").is_some_and(|op| op.variadic_results));
    assert!(table.get("constant").is_none() && table.get("composite").is_none());
}

#[test]
fn the_table_of_other_tests_is_true() {
    let table = table();
    for op in test_table().iter().filter(|op| op.name != "print") {
        let declared = table.get(&op.name).expect("is in ODS");
        assert_eq!((&op.flops, op.traits), (&declared.flops, declared.traits), "{}", op.name);
        assert_eq!(op.operands, declared.operands, "{}", op.name);
        for attr in &op.attrs {
            let kind = declared.attr(&attr.name).map(|attr| attr.kind);
            assert_eq!(kind, Some(attr.kind), "{} of {}", attr.name, op.name);
        }
    }
}
