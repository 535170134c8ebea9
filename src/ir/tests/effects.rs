//! Effects of operations, by their interfaces.

use crate::{
    Session,
    ir::{
        self, Op, edit,
        effects::{self, Kind, Runs},
        root,
    },
};

/// One line for each operation: kind and operand (or result) of each effect, and the operand that is viewed.
fn line(op: Op<'_>) -> String {
    let place = |value: Option<ir::Val<'_>>| match value {
        None => "*".to_owned(),
        Some(value) => {
            let at = |list: Vec<ir::Val<'_>>| list.iter().position(|other| *other == value);
            match (at(ir::operands(op)), at(ir::results(op))) {
                (Some(at), _) => at.to_string(),
                (None, Some(at)) => format!("r{at}"),
                (None, None) => "?".to_owned(),
            }
        }
    };
    let effects = match effects::of(op) {
        None => "unknown".to_owned(),
        Some(list) => {
            let one = |effect: &effects::Effect<'_>| {
                let kind = match effect.kind {
                    Kind::Read => "reads",
                    Kind::Write { .. } => match effect.value {
                        Some(value) if effects::overwrites(op).contains(&value) => "overwrites",
                        _ => "writes",
                    },
                    Kind::Allocate => "makes",
                    Kind::Free => "frees",
                    Kind::Elsewhere => "uses elsewhere",
                };
                format!("{kind} {}", place(effect.value))
            };
            list.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    };
    let viewed: Vec<String> =
        effects::viewed(op).into_iter().map(|value| place(Some(value))).collect();
    let views =
        if viewed.is_empty() { String::new() } else { format!("; views {}", viewed.join(" ")) };
    format!("{}: {effects}{views}", ir::op_name(op))
}

fn lines(text: &str) -> Vec<String> {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "test.mlir").expect("is valid");
    let function = ir::ops_of(root(&module))[0];
    let skipped = ["arith.constant", "func.return", "linalg.yield", "scf.yield"];
    let all = edit::walk(function).into_iter().filter(|op| !skipped.contains(&ir::op_name(*op)));
    all.map(line).collect()
}

#[test]
fn effects_come_from_the_interfaces() {
    let found = lines(
        r#"
  func.func @f(%x: memref<4x8xf32>, %y: memref<4xf32>, %i: memref<4xi32>, %c: i1) {
    %0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    %a = memref.alloc() : memref<4x8xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<4x8xf32>)
    memref.copy %x, %a : memref<4x8xf32> to memref<4x8xf32>
    %v = memref.load %a[%0, %0] : memref<4x8xf32>
    memref.store %v, %y[%0] : memref<4xf32>
    %s = memref.subview %a[0, 0] [4, 2] [1, 1] : memref<4x8xf32> to memref<4x2xf32, strided<[8, 1]>>
    %e = memref.collapse_shape %a [[0, 1]] : memref<4x8xf32> into memref<32xf32>
    %d = memref.dim %a, %0 : memref<4x8xf32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
        affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<4x8xf32>) outs(%y, %i : memref<4xf32>, memref<4xi32>) {
    ^bb0(%in: f32, %out: f32, %at: i32):
      %m = arith.maximumf %in, %out : f32
      linalg.yield %m, %at : f32, i32
    }
    %p = arith.select %c, %x, %a : memref<4x8xf32>
    %q = func.call @g(%x, %a) : (memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32>
    memref.dealloc %a : memref<4x8xf32>
    return
  }
  func.func private @g(memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32>"#,
    );
    let wanted = [
        "memref.alloc: makes r0",
        "linalg.fill: overwrites 1",
        "memref.copy: reads 0, overwrites 1",
        "memref.load: reads 0",
        "memref.store: writes 1",
        "memref.subview: ; views 0",
        "memref.collapse_shape: ; views 0",
        "memref.dim: ",
        "linalg.generic: reads 0, reads 1, writes 1, reads 2, writes 2",
        "arith.maximumf: ",
        "arith.select: ; views 1 2",
        "func.call: unknown; views 0 1",
        "memref.dealloc: frees 0",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn calls_may_do_everything_and_calls_outside_say_what() {
    let found = lines(
        r#"
  func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
    tir.call_extern @device ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
        args [#tir.arg<ins 0>, #tir.arg<outs 0>]
    func.call @g(%x) : (memref<4xf32>) -> ()
    return
  }
  func.func private @g(memref<4xf32>)"#,
    );
    assert!(found[0].starts_with("tir.call_extern: reads 0"), "{}", found[0]);
    assert!(found[0].contains("writes 1"), "{}", found[0]);
    assert_eq!(found[1], "func.call: unknown");
}

#[test]
fn unknown_operations_read_and_write_all_that_they_are_given() {
    let session = Session::new();
    let text = r#"
  func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
    func.call @g(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
    return
  }
  func.func private @g(memref<4xf32>, memref<4xf32>)"#;
    let module = session.parse(text.as_bytes(), "test.mlir").expect("is valid");
    let ops = edit::walk(ir::ops_of(root(&module))[0]);
    assert_eq!((effects::reads(ops[0]).len(), effects::writes(ops[0]).len()), (2, 2));
    assert!(effects::overwrites(ops[0]).is_empty());
    assert!(effects::destinations(ops[0]).is_empty());
    let y = ir::operands(ops[1])[2];
    assert_eq!(effects::writes(ops[1]), [y]);
    assert_eq!(effects::overwrites(ops[1]), [y]);
    assert_eq!(effects::destinations(ops[1]), [y]);
    assert!(!effects::is_free(ops[1]));
}

#[test]
fn regions_run_as_often_as_their_interface_says() {
    let session = Session::with_upstream();
    let text = r#"
  func.func @f(%n: index, %c: i1) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    scf.for %i = %0 to %n step %1 { }
    scf.parallel (%i) = (%0) to (%n) step (%1) { scf.reduce }
    scf.forall (%i) in (8) { }
    scf.if %c { }
    scf.execute_region { scf.yield }
    scf.while : () -> () { scf.condition(%c) } do { scf.yield }
    omp.parallel { omp.terminator }
    return
  }"#;
    let module = session.parse(text.as_bytes(), "test.mlir").expect("is valid");
    let all = edit::walk(ir::ops_of(root(&module))[0]);
    let of = |name: &str, region| {
        let op = all.iter().find(|op| ir::op_name(**op) == name).expect(name);
        effects::runs(*op, region)
    };
    for (name, region, wanted) in [
        ("scf.for", 0, Runs::InOrder),
        ("scf.parallel", 0, Runs::Any),
        ("scf.forall", 0, Runs::Any),
        ("scf.if", 0, Runs::Once),
        ("scf.if", 1, Runs::Once),
        ("scf.execute_region", 0, Runs::Once),
        ("scf.while", 0, Runs::InOrder),
        ("omp.parallel", 0, Runs::Any),
        ("arith.constant", 0, Runs::Any),
    ] {
        assert_eq!(of(name, region), wanted, "{name}, region {region}");
    }
}
