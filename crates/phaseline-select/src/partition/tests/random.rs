//! Random graphs between random devices.

use super::*;
use proptest::prelude::*;

const POOL: [&str; 14] = [
    "relu(x)",
    "tanh(x)",
    "add(x, y)",
    "mul(x, y)",
    "relu(add(x, y))",
    "tanh?(relu(x))",
    "mul(relu(x), y)",
    "add(x, x)",
    "split(x)",
    "add(split(x)#1, y)",
    "s = relu(x); add(tanh(s), s)",
    "relu?(tanh?(mul(x, y)))",
    "erf(x)",
    "(erf|sigmoid)(add|mul(x, _))",
];

#[derive(Clone, Debug)]
struct Plan {
    ops: Vec<(usize, usize, usize, u8)>,
    outputs: Vec<usize>,
    devices: Vec<DevicePlan>,
}

/// Patterns and whether they are work, then multi-output, taps, merge.
type DevicePlan = (Vec<(usize, bool)>, bool, bool, bool);

fn plans() -> impl Strategy<Value = Plan> {
    let op = (0..9_usize, any::<usize>(), any::<usize>(), 0..20_u8);
    let patterns = prop::collection::vec((0..POOL.len(), prop::bool::weighted(0.8)), 1..6);
    let device = (patterns, any::<bool>(), any::<bool>(), prop::bool::weighted(0.8));
    (
        prop::collection::vec(op, 1..40),
        prop::collection::vec(any::<usize>(), 1..4),
        prop::collection::vec(device, 0..5),
    )
        .prop_map(|(ops, outputs, devices)| Plan { ops, outputs, devices })
}

fn build(plan: &Plan) -> GraphView {
    const NAMES: [&str; 9] =
        ["relu", "tanh", "erf", "sigmoid", "add", "mul", "add", "split", "print"];
    let mut view = GraphView::new();
    let ty = TensorType::new(DType::F32, &[4]);
    let mut values = vec![view.add_argument(ty.clone()), view.add_constant(ty.clone(), None)];
    for (kind, a, b, rare) in &plan.ops {
        let name = if NAMES[*kind] == "print" && *rare > 4 { "relu" } else { NAMES[*kind] };
        let pick = |seed: usize| {
            // Mostly recent values, so that chains and diamonds are common.
            let back = if seed.is_multiple_of(3) { values.len() } else { values.len().min(4) };
            Some(values[values.len() - 1 - (seed / 3) % back])
        };
        let operands =
            if matches!(name, "add" | "mul") { vec![pick(*a), pick(*b)] } else { vec![pick(*a)] };
        let results = vec![ty.clone(); if name == "split" { 2 } else { 1 }];
        let spec = OpSpec {
            name: name.to_owned(),
            operands,
            results,
            side_effects: name == "print",
            ..OpSpec::default()
        };
        let id = view.add_op(spec).expect("known operands");
        values.extend(view.op(id).results.clone());
    }
    let last = values.len() - 1;
    let outputs = plan.outputs.iter().map(|seed| values[last - seed % values.len().min(6)]);
    view.set_outputs(outputs.collect()).expect("known");
    view
}

fn devices(plan: &Plan) -> Vec<Owned> {
    let ids = ["a", "b", "c", "d"];
    let make = |(id, (patterns, multi, taps, merge)): (&&'static str, &DevicePlan)| {
        let mut seen = std::collections::BTreeSet::new();
        let specs: Vec<PatternSpec> = patterns
            .iter()
            .filter(|(index, _)| seen.insert(*index))
            .map(|(index, compute): &(usize, bool)| {
                let spec = PatternSpec::new(POOL[*index], POOL[*index]);
                // Costs differ, and some patterns have none.
                let spec = match index % 4 {
                    0 => spec,
                    step => spec.cost(format!("{}", 7 * (index + 1) % 23 * step)),
                };
                if *compute { spec } else { spec.no_compute() }
            })
            .collect();
        let mut owned = device(id, &specs);
        owned.capabilities.multi_output = *multi;
        owned.capabilities.taps = *taps;
        owned.capabilities.merge = *merge;
        owned.rates = Rates { per_call: 2.0, per_byte: 0.2, ..Rates::default() };
        owned
    };
    ids.iter().zip(&plan.devices).map(make).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn partitions_are_legal_deterministic_and_stable(plan in plans()) {
        let mut view = build(&plan);
        let devices = devices(&plan);
        let first = run(&view, &devices);
        let second = run(&view, &devices);
        prop_assert_eq!(&first.regions, &second.regions);
        prop_assert_eq!(&first.order, &second.order);
        prop_assert_eq!(&first.verdicts, &second.verdicts);
        prop_assert_eq!(&first.refused, &second.refused);
        let texts = |view: &GraphView| {
            let report = report(view, &devices);
            (report.table(), report.to_json().expect("prints"))
        };
        prop_assert_eq!(texts(&view), texts(&view));
        Placement::of(&view, &first).apply(&mut view).expect("fits");
        let again = run(&view, &devices);
        prop_assert_eq!(&first.regions, &again.regions);
        prop_assert_eq!(&first.order, &again.order);
    }

    #[test]
    fn searches_are_legal_deterministic_and_never_worse(plan in plans()) {
        let mut view = build(&plan);
        let mut devices = devices(&plan);
        let greedy = run(&view, &devices);
        let cheapest = super::costs::cheapest(&view, &devices);
        devices.iter_mut().for_each(|owned| owned.search = true);
        let first = run(&view, &devices);
        let second = run(&view, &devices);
        prop_assert_eq!(&first.regions, &second.regions);
        prop_assert_eq!(&first.verdicts, &second.verdicts);
        prop_assert!(first.costs.total <= greedy.costs.total);
        let exact = first.costs.search == Search::Exact;
        if let (Some(cheapest), true) = (cheapest, exact) {
            prop_assert!(first.costs.total <= cheapest * (1.0 + 1e-6), "{} {cheapest}", first.costs.total);
        }
        // What was found can be demanded, with and without a search.
        Placement::of(&view, &first).apply(&mut view).expect("fits");
        prop_assert_eq!(&first.regions, &run(&view, &devices).regions);
        devices.iter_mut().for_each(|owned| owned.search = false);
        prop_assert_eq!(&first.regions, &run(&view, &devices).regions);
    }
}
