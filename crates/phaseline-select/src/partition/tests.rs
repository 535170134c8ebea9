//! Tests of partitioning.

use super::*;
use crate::{
    graph::{
        OpSpec, TensorType,
        text::{graph, test_table},
    },
    pattern::PatternSpec,
    tensor::DType,
};
use std::collections::BTreeMap;

/// A device that owns what [`Device`] borrows.
pub(super) struct Owned {
    id: &'static str,
    patterns: Vec<Pattern>,
    options: OptionValues,
    capabilities: Capabilities,
    rates: Rates,
    search: bool,
}

pub(super) fn device(id: &'static str, specs: &[PatternSpec]) -> Owned {
    let table = test_table();
    let read = |spec: &PatternSpec| {
        Pattern::new(spec.clone(), &table, &BTreeMap::new()).unwrap_or_else(|e| panic!("{e}"))
    };
    Owned {
        id,
        patterns: specs.iter().map(read).collect(),
        options: OptionValues::new(),
        capabilities: Capabilities::default(),
        rates: Rates::default(),
        search: false,
    }
}

/// A device with one pattern for each of these match expressions, which are also their names.
fn simple(id: &'static str, matches: &[&str]) -> Owned {
    let specs: Vec<PatternSpec> =
        matches.iter().map(|text| PatternSpec::new(*text, *text)).collect();
    device(id, &specs)
}

pub(super) fn with<R>(view: &GraphView, owners: &[Owned], f: impl FnOnce(&Request) -> R) -> R {
    let table = test_table();
    let devices: Vec<Device> = owners
        .iter()
        .map(|owned| Device {
            id: owned.id,
            patterns: &owned.patterns,
            options: &owned.options,
            capabilities: owned.capabilities.clone(),
            rates: owned.rates,
        })
        .collect();
    let search = owners.iter().any(|owned| owned.search);
    let host_rates = Rates::host();
    let devices = &devices;
    f(&Request {
        graph: view,
        table: &table,
        devices,
        host: "llvm",
        host_rates,
        search,
        judged: &[],
        layout: None,
        measured: None,
    })
}

pub(super) fn run(view: &GraphView, devices: &[Owned]) -> Partition {
    with(view, devices, |request| {
        let partition = super::partition(request).unwrap_or_else(|error| panic!("{error}"));
        check(request, &partition);
        partition
    })
}

fn report(view: &GraphView, devices: &[Owned]) -> Report {
    with(view, devices, |request| {
        Report::new(request, &super::partition(request).expect("divides"))
    })
}

/// The regions as text: `a:0,1 b:3`.
fn regions(partition: &Partition) -> String {
    let text = |region: &Region| {
        let ops: Vec<String> = region.ops.iter().map(|op| op.0.to_string()).collect();
        format!("{}:{}", region.target, ops.join(","))
    };
    partition.regions.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// The invariants of every partition.
fn check(request: &Request, partition: &Partition) {
    let graph = request.graph;
    let mut place = vec![None; graph.op_count()];
    for (position, unit) in partition.order.iter().enumerate() {
        let ops = match unit {
            Unit::Op(op) => vec![*op],
            Unit::Region(region) => partition.regions[*region].ops.clone(),
        };
        for op in ops {
            assert!(place[op.index()].replace(position).is_none(), "{op:?} is in two places");
        }
    }
    assert!(place.iter().all(Option::is_some), "each operation is somewhere");
    for (from, to) in quotient::dependencies(graph) {
        assert!(place[from.index()] <= place[to.index()], "{from:?} runs after {to:?}");
    }
    for (number, region) in partition.regions.iter().enumerate() {
        let capabilities = &request.devices[region.device].capabilities;
        let mut covered: Vec<OpId> =
            region.composites.iter().flat_map(|c| c.found.ops.iter().copied()).collect();
        covered.sort_unstable();
        assert_eq!(covered, region.ops);
        assert!(region.ops.iter().all(|op| partition.region_of[op.index()] == Some(number)));
        assert!(!region.outputs.is_empty(), "a region is useful");
        let inside = |op: OpId| region.ops.contains(&op);
        for output in &region.outputs {
            let value = graph.value(*output);
            assert!(value.returned || value.uses.iter().any(|u| !inside(u.op)), "dead output");
        }
        for input in &region.inputs {
            assert!(!graph.definer(input.value).is_some_and(|(op, _)| inside(op)));
            assert_eq!(input.constant, graph.is_constant(input.value));
        }
        let inputs = region.inputs.iter().map(|i| i.value);
        let distinct: std::collections::BTreeSet<ValueId> = inputs.collect();
        assert_eq!(distinct.len(), region.inputs.len(), "inputs are distinct");
        assert!(capabilities.multi_output || region.outputs.len() == 1);
        for composite in &region.composites {
            let outputs = &composite.found.outputs;
            let tapped = outputs
                .iter()
                .any(|v| graph.definer(*v).is_some_and(|(op, _)| op != composite.found.root));
            assert!(capabilities.taps || !tapped);
            assert!(capabilities.multi_output || outputs.len() == 1);
        }
        assert!(capabilities.merge || region.composites.len() == 1);
    }
}

const DIAMOND: &str = "
    x = arg 4xf32
    a = relu(x)
    b = tanh(a)
    c = relu(a)
    d = add(b, c)
    return d";

#[test]
fn a_merge_that_closes_a_cycle_is_refused_with_its_path() {
    let (view, _) = graph(DIAMOND);
    let npu = simple("npu", &["relu(x)", "add(x, y)"]);
    let partition = run(&view, &[npu]);
    assert_eq!(regions(&partition), "npu:0,2 npu:3");
    let [refused] = partition.refused.as_slice() else { panic!("{:?}", partition.refused) };
    assert_eq!(refused.regions, (0, 1));
    assert_eq!(refused.reason, RefusedReason::Path { path: vec![OpId(0), OpId(1), OpId(3)] });
    let text = report(&view, &[simple("npu", &["relu(x)", "add(x, y)"])]).table();
    assert!(
        text.contains("a path leaves them and comes back: relu 'a' -> tanh 'b' -> add 'd'"),
        "{text}"
    );
    assert!(text.contains("npu: no pattern has this operation"), "{text}");
    assert!(text.contains("npu: 3 of 4 operations in 2 regions"), "{text}");
}

#[test]
fn a_diamond_of_one_target_becomes_one_region_with_one_output() {
    let (view, names) = graph(DIAMOND);
    for multi_output in [true, false] {
        let mut npu = simple("npu", &["relu(x)", "add(x, y)", "tanh(x)"]);
        npu.capabilities.multi_output = multi_output;
        let partition = run(&view, &[npu]);
        assert_eq!(regions(&partition), "npu:0,1,2,3");
        assert_eq!(partition.regions[0].outputs, [names["d"]]);
        assert!(partition.refused.is_empty());
    }
}

#[test]
fn several_outputs_need_the_capability() {
    let (view, names) = graph("x = arg 4xf32\na = relu(x)\nb = tanh(a)\nreturn b, a");
    let wide = simple("npu", &["relu(x)", "tanh(x)"]);
    let partition = run(&view, &[wide]);
    assert_eq!(regions(&partition), "npu:0,1");
    assert_eq!(partition.regions[0].outputs, [names["a"], names["b"]], "in order of definition");
    let mut narrow = simple("npu", &["relu(x)", "tanh(x)"]);
    narrow.capabilities.multi_output = false;
    let partition = run(&view, &[narrow]);
    assert_eq!(regions(&partition), "npu:0 npu:1");
    assert_eq!(partition.refused[0].reason, RefusedReason::Outputs { count: 2 });
}

#[test]
fn taps_need_the_capability() {
    let (view, _) = graph("x = arg 4xf32\na = relu(x)\nb = tanh(a)\nc = erf(a)\nreturn b, c");
    let mut npu = simple("npu", &["tanh(relu(x))"]);
    assert_eq!(regions(&run(&view, &[npu])), "");
    let text = report(&view, &[simple("npu", &["tanh(relu(x))"])]).table();
    assert!(text.contains("the result of relu 'a' is also used by erf 'c'"), "{text}");
    npu = simple("npu", &["tanh(relu(x))"]);
    npu.capabilities.taps = true;
    assert_eq!(regions(&run(&view, &[npu])), "npu:0,1");
}

#[test]
fn taps_that_close_a_cycle_are_refused() {
    let (view, _) = graph("x = arg 4xf32\na = relu(x)\nb = tanh(a)\nc = mul(a, b)\nreturn c");
    let devices = || {
        let mut npu = simple("npu", &["mul(relu(x), y)"]);
        npu.capabilities.taps = true;
        [npu]
    };
    let partition = run(&view, &devices());
    assert_eq!(regions(&partition), "");
    let path = vec![OpId(0), OpId(1), OpId(2)];
    let pattern = "mul(relu(x), y)".to_owned();
    assert_eq!(partition.verdicts[0][0], Verdict::Cycle { pattern, path });
    assert!(report(&view, &devices()).table().contains("would wait for itself"));
}

#[test]
fn regions_of_two_targets_never_wait_for_each_other() {
    // {a1, a2} and {b1, b2} are convex one by one, but each feeds the other.
    let (view, _) = graph(
        "x = arg 4xf32
         a1 = relu(x)
         b1 = tanh(x)
         b2 = tanh(a1)
         a2 = relu(b1)
         s = add(b1, b2)
         t = add(a1, a2)
         return s, t",
    );
    let partition = run(
        &view,
        &[simple("a", &["add(relu(x), relu(y))"]), simple("b", &["add(tanh(x), tanh(y))"])],
    );
    assert_eq!(regions(&partition), "", "both would need taps");
    let mut a = simple("a", &["add(relu(x), relu(y))"]);
    let mut b = simple("b", &["add(tanh(x), tanh(y))"]);
    a.capabilities.taps = true;
    b.capabilities.taps = true;
    let partition = run(&view, &[a, b]);
    assert_eq!(regions(&partition), "a:0,3,5");
    assert!(matches!(partition.verdicts[1][1], Verdict::Cycle { .. }));
}

#[test]
fn the_first_target_wins_then_the_larger_match() {
    let (view, _) = graph(
        "x = arg 1x3x8x8xf32
         w = const 8x3x3x3xf32
         b = const 8xf32
         c = conv(x, w, b) {group = 1} : 1x8x6x6xf32
         r = relu(c) : 1x8x6x6xf32
         s = softmax(r) {axis = 1} : 1x8x6x6xf32
         return s",
    );
    let one = || simple("one", &["relu(x)", "conv(x, w, b?)"]);
    let two = || simple("two", &["relu?(conv(x, w, b?))", "softmax(x)"]);
    let partition = run(&view, &[one(), two()]);
    assert_eq!(regions(&partition), "one:0,1 two:2");
    assert!(matches!(&partition.verdicts[0][1], Verdict::Lost { target, .. } if target == "one"));
    let partition = run(&view, &[two(), one()]);
    assert_eq!(regions(&partition), "two:0,1,2");
    assert_eq!(partition.regions[0].composites.len(), 2);
    assert_eq!(partition.regions[0].name(), "two_0");
    let cheap = PatternSpec::new("cheap", "relu(conv(x, w, b?))").benefit(1);
    let costly = PatternSpec::new("costly", "relu(x)").benefit(5);
    let partition = run(&view, &[device("one", &[cheap, costly])]);
    assert_eq!(regions(&partition), "one:1");
}

#[test]
fn regions_without_work_go_back_and_others_may_take_them() {
    let (view, _) = graph(
        "x = arg 1x4xf32
         s = const 2xi64
         r = reshape(x, s) {allowzero = false} : 4x1xf32
         t = tanh(r) : 4x1xf32
         u = reshape(t, s) {allowzero = false} : 1x4xf32
         v = relu(u) : 1x4xf32
         return v",
    );
    let move_only = PatternSpec::new("reshape", "reshape(x, s: const)").no_compute();
    let npu = || device("npu", &[move_only.clone(), PatternSpec::new("relu", "relu(x)")]);
    let partition = run(&view, &[npu()]);
    assert_eq!(regions(&partition), "npu:2,3");
    assert!(matches!(&partition.verdicts[0][0], Verdict::Idle { pattern } if pattern == "reshape"));
    let other = simple("dsp", &["tanh(reshape(x, s))"]);
    assert_eq!(regions(&run(&view, &[npu(), other])), "dsp:0,1 npu:2,3");
    let inputs = &run(&view, &[npu()]).regions[0].inputs;
    assert_eq!(inputs.iter().map(|input| input.constant).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn placement_by_hand_comes_first() {
    let text = |first: &str, second: &str| {
        format!("x = arg 4xf32\na = relu(x){first}\nb = tanh(a){second}\nreturn b")
    };
    let both = |id| simple(id, &["relu(x)", "tanh(x)", "tanh(relu(x))"]);
    let (view, _) = graph(&text("", " @ two"));
    assert_eq!(regions(&run(&view, &[both("one"), both("two")])), "two:0,1");
    let (view, _) = graph(&text(" @ one", " @ two"));
    assert_eq!(regions(&run(&view, &[both("one"), both("two")])), "one:0 two:1");
    for host in ["host", "llvm"] {
        let (view, _) = graph(&text("", &format!(" @ {host}")));
        let partition = run(&view, &[both("one"), both("two")]);
        assert_eq!(regions(&partition), "one:0");
        assert_eq!(partition.verdicts[1][0], Verdict::Placed { target: "llvm".to_owned() });
    }
    let fails = |view: &GraphView, devices: &[Owned]| {
        with(view, devices, |request| super::partition(request).expect_err("fails").to_string())
    };
    let (view, _) = graph(&text(" @ tow", ""));
    assert_eq!(
        fails(&view, &[both("one"), both("two")]),
        "relu 'a' is placed on 'tow', which is none of the targets; did you mean 'two'?"
    );
    let (view, _) = graph(&text("", " @ one"));
    assert_eq!(
        fails(&view, &[simple("one", &["relu(x)"])]),
        "tanh 'b' is placed on one, which cannot take it: no pattern has this operation"
    );
}

#[test]
fn placements_are_written_and_read() {
    let (mut view, _) = graph(DIAMOND);
    let devices = [simple("npu", &["relu(x)", "add(x, y)"])];
    let before = run(&view, &devices);
    let placement = Placement::of(&view, &before);
    let text = placement.to_json().expect("prints");
    assert_eq!(Placement::from_json(&text, "f").expect("reads"), placement);
    placement.apply(&mut view).expect("fits");
    assert_eq!(run(&view, &devices).regions, before.regions);
    let (mut other, _) = graph("x = arg 4xf32\nq = tanh(x)\nreturn q");
    let error = placement.apply(&mut other).expect_err("does not fit").to_string();
    assert!(
        error.contains("the placement's operation 0 is relu 'a', but the model has tanh 'q' there")
    );
    assert!(
        Placement::from_json("{", "f")
            .expect_err("bad")
            .to_string()
            .starts_with("f: not a placement")
    );
    let old =
        Placement::from_json("{\"version\": 9, \"ops\": []}", "f").expect_err("bad").to_string();
    assert!(old.contains("version 9"));
}

#[test]
fn effects_and_unused_operations_stay_on_the_host() {
    let (view, _) = graph(
        "x = arg 4xf32
         a = relu(x)
         p = print(a)
         b = relu(x)
         q = print(b)
         dead = relu(a)
         return a",
    );
    let partition = run(&view, &[simple("npu", &["relu(x)", "print(x)"])]);
    assert_eq!(regions(&partition), "npu:0 npu:2");
    assert_eq!(partition.verdicts[1][0], Verdict::Effects);
    assert_eq!(partition.verdicts[4][0], Verdict::Unused);
}

#[test]
fn every_pattern_that_was_tried_is_told() {
    let (view, _) = graph(
        "x = arg 1x4x8x8xf32
         w = const 4x4x3x3xf32
         c = conv(x, w, _) {group = 1, strides = [2, 2]} : 1x4x3x3xf32
         r = relu(c) : 1x4x3x3xf32
         return r",
    );
    let specs = [
        PatternSpec::new("small", "conv(x, w)").clause("w.shape[2] == 1"),
        PatternSpec::new("dense", "relu(conv(x, w))").clause("all(conv.strides == 1)"),
        PatternSpec::new("relu", "relu(x)"),
    ];
    let npu = device("npu", &specs);
    let report = report(&view, &[npu]);
    let attempts = |op: usize| {
        let attempts = report.ops[op].verdicts[0].attempts.iter();
        attempts.map(|attempt| format!("{}: {}", attempt.pattern, attempt.text)).collect::<Vec<_>>()
    };
    let small = "small: `w.shape[2] == 1` does not hold: w.shape[2] = 3";
    let dense = "dense: `all(conv.strides == 1)` does not hold: conv.strides = [2, 2]";
    assert_eq!(attempts(0), [small, dense]);
    assert_eq!(attempts(1), [dense]);
    let brief = report.explanation(false);
    assert!(!brief.contains("no match of"), "{brief}");
    let all = report.explanation(true);
    assert!(all.contains("no match of 'dense' of npu: `all(conv.strides == 1)`"), "{all}");
    assert!(all.contains("`w.shape[2] == 1`"), "{all}");
}

#[test]
fn explanations_name_the_condition_and_the_values() {
    let (view, _) = graph(
        "x = arg 1x6x8x8xf32
         w = const 6x1x3x3xf32
         c = conv(x, w) {group = 6} : 1x6x6x6xf32
         t = tanh(c) : 1x6x6x6xf32
         return t",
    );
    let conv = || PatternSpec::new("conv", "relu?(conv(x, w: const))").clause("conv.group == 1");
    let devices = || [device("npu", &[conv(), PatternSpec::new("tail", "relu(tanh(x))")])];
    let table = report(&view, &devices()).table();
    assert!(
        table.contains("npu: 'conv': `conv.group == 1` does not hold: conv.group = 6"),
        "{table}"
    );
    assert!(table.contains("occurs only within 'tail'"), "{table}");
    let json = report(&view, &devices()).to_json().expect("prints");
    let json: serde_json::Value = serde_json::from_str(&json).expect("is JSON");
    let verdict = &json["ops"][0]["verdicts"][0];
    assert_eq!(verdict["verdict"], "failed");
    assert_eq!(verdict["clause"], "conv.group == 1");
    assert_eq!(verdict["values"][0][1], "6");
}

mod costs;
mod large;
mod limits;
mod random;
