//! Costs, and the search for the partition that costs least.

use super::{
    super::{candidates, choose, cost, placement, solve},
    *,
};

/// A device whose patterns are match expressions with costs.
fn priced(id: &'static str, patterns: &[(&str, &str)]) -> Owned {
    let specs =
        patterns.iter().map(|(matches, cost)| PatternSpec::new(*matches, *matches).cost(*cost));
    let mut owned = device(id, &specs.collect::<Vec<_>>());
    owned.rates = Rates { per_call: 10.0, per_byte: 1.0, ..Rates::default() };
    owned
}

fn searched(view: &GraphView, mut devices: Vec<Owned>) -> Partition {
    devices.iter_mut().for_each(|owned| owned.search = true);
    run(view, &devices)
}

/// The cheapest of all subsets of matches.
pub fn cheapest(view: &GraphView, devices: &[Owned]) -> Option<f64> {
    with(view, devices, |request| {
        let placed = placement::resolve(request).expect("nothing is placed");
        let candidates = candidates::collect(request, &placed);
        let prices = cost::Prices::new(request, &candidates);
        let barred = choose::barred(request, &candidates);
        let problem = solve::Problem {
            request,
            placed: &placed,
            candidates: &candidates,
            prices: &prices,
            barred: &barred,
        };
        let order = choose::preference(request, &candidates, &placed);
        if order.len() > 10 {
            return None;
        }
        let costs = (0..1_usize << order.len()).map(|set| {
            let subset = order.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1);
            problem.solve(&subset.map(|(_, number)| *number).collect::<Vec<_>>()).cost
        });
        costs.reduce(f64::min)
    })
}

#[test]
fn a_region_costs_work_call_and_what_crosses_its_border() {
    let (view, _) =
        graph("x = arg 100xf32\na = relu(x) : 100xf32\nb = tanh(a) : 100xf32\nreturn b");
    let npu = priced("npu", &[("relu(x)", "x.size / 2"), ("tanh(x)", "30.5")]);
    let partition = run(&view, &[npu]);
    let [region] = partition.costs.regions.as_slice() else { panic!("{partition:?}") };
    assert_eq!((region.work, region.call, region.bytes), (80.5, 10.0, 800.0));
    assert_eq!(partition.costs.total, 890.5);
    assert_eq!(partition.costs.total, region.total());
    // The host: 800 bytes for the first operation, 15 flops for each tanh on its results.
    assert_eq!(partition.costs.host_only, 55.0);
}

#[test]
fn the_host_stores_nothing_between_what_it_fuses() {
    let (view, _) =
        graph("x = arg 100xf32\na = relu(x) : 100xf32\nb = relu(a) : 100xf32\nreturn b");
    let alone = 800.0 * Rates::host().per_access;
    let fused = 100.0 * Rates::host().per_flop;
    let costs = run(&view, &[]).costs;
    assert_eq!((costs.total, costs.on_host), (alone + fused, vec![alone, fused]));
    // A device that takes the first leaves a second that has to read what the device wrote.
    let mut npu = priced("npu", &[("relu(x)", "1")]);
    npu.capabilities.merge = false;
    let (placed, _) = graph(
        "x = arg 100xf32\na = relu(x) : 100xf32 @ npu\nb = relu(a) : 100xf32 @ host\nreturn b",
    );
    let costs = run(&placed, &[npu]).costs;
    assert_eq!(costs.on_host, vec![alone, alone]);
    assert_eq!(costs.total, 1.0 + 10.0 + 800.0 + alone);
}

#[test]
fn what_has_no_cost_of_its_own_is_estimated() {
    let (view, _) = graph(
        "x = arg 1x4x8x8xf32
         w = const 2x4x3x3xf32
         c = conv(x, w) {group = 1} : 1x2x6x6xf32
         r = reshape(c, w) : 72xf32
         return r",
    );
    let partition = run(&view, &[]);
    let flops = 2.0 * 72.0 * 36.0;
    assert!((partition.costs.total - flops * Rates::host().per_flop).abs() < 60.0);
    assert_eq!(partition.costs.on_host[1], 0.0, "a reshape is free");
    let dynamic = PatternSpec::new("relu", "relu(x)").cost("x.size");
    let (view, _) = graph("x = arg ?xf32\na = relu(x) : ?xf32\nreturn a");
    let costs = run(&view, &[device("npu", &[dynamic])]).costs;
    assert!(costs.regions[0].work < 1.0, "an unknown size falls back to the estimate");
}

#[test]
fn transfers_decide_and_the_reason_says_so() {
    let (view, _) = graph("x = arg 1000xf32\na = relu(x) : 1000xf32\nreturn a");
    let npu = || priced("npu", &[("relu(x)", "1")]);
    assert_eq!(regions(&run(&view, &[npu()])), "npu:0");
    let partition = searched(&view, vec![npu()]);
    assert_eq!(regions(&partition), "");
    assert_eq!(partition.costs.search, Search::Exact);
    let Verdict::Dear { cost, on_host, .. } = &partition.verdicts[0][0] else {
        panic!("{:?}", partition.verdicts)
    };
    assert_eq!((*cost, *on_host), (1.0, 400.0));
    let mut npu = npu();
    npu.search = true;
    let text = report(&view, &[npu]).explanation(false);
    assert!(
        text.contains("'relu(x)' matches, but the partition is cheaper without: 1 ns"),
        "{text}"
    );
    assert!(text.contains("the cheapest of all; in order of preference 8.0 us"), "{text}");
}

#[test]
fn overlapping_matches_of_several_targets_are_weighed() {
    // By preference 'a' takes the first conv and relu as one, which leaves 'b' without its best
    // match: all four operations at a low price, in one region.
    let (view, _) = graph(
        "x = arg 64xf32
         a = tanh(x) : 64xf32
         b = relu(a) : 64xf32
         c = tanh(b) : 64xf32
         d = erf(c) : 64xf32
         return d",
    );
    let devices = || {
        let mut both = vec![
            priced("a", &[("relu(tanh(x))", "5"), ("tanh(x)", "400")]),
            priced("b", &[("erf(tanh(relu(tanh(x))))", "20"), ("erf(x)", "300")]),
        ];
        both.iter_mut().for_each(|owned| owned.rates.per_byte = 0.01);
        both
    };
    let greedy = run(&view, &devices());
    assert_eq!(regions(&greedy), "a:0,1,2 b:3");
    let found = searched(&view, devices());
    assert_eq!(regions(&found), "b:0,1,2,3");
    assert!(found.costs.total < greedy.costs.total);
    assert_eq!(found.costs.greedy, greedy.costs.total);
    assert_eq!(Some(found.costs.total), cheapest(&view, &devices()));
    assert!(
        matches!(&found.verdicts[0][0], Verdict::Lost { winner_cost, .. } if *winner_cost == 20.0)
    );
}

#[test]
fn a_search_keeps_to_what_the_user_placed() {
    let text = |placed: &str| format!("x = arg 9xf32\na = relu(x) : 9xf32{placed}\nreturn a");
    let npu = || vec![priced("npu", &[("relu(x)", "1000")])];
    let (view, _) = graph(&text(" @ npu"));
    assert_eq!(regions(&searched(&view, npu())), "npu:0");
    let (view, _) = graph(&text(""));
    assert_eq!(regions(&searched(&view, npu())), "");
}

#[test]
fn costs_are_checked_when_patterns_are_read() {
    let table = test_table();
    let read = |cost: &str| {
        Pattern::new(PatternSpec::new("p", "relu(x)").cost(cost), &table, &BTreeMap::new())
    };
    assert!(read("2.5 * x.size + 10").is_ok());
    let error = read("x.dtype == f32").expect_err("no number").to_string();
    assert!(error.contains("a cost is a number of nanoseconds"), "{error}");
    assert!(read("y.size").is_err(), "an unknown name");
}

#[test]
fn the_picture_has_each_operation_and_escapes_names() {
    let (view, _) = graph("x = arg 4xf32\na<b&\"c = relu(x)\nd = tanh(a<b&\"c)\nreturn d");
    let page = report(&view, &[simple("npu", &["relu(x)"])]).picture("a & b").expect("a page");
    assert!(page.contains("<title>a &amp; b</title>"), "{page}");
    assert!(page.contains("a&lt;b&amp;&quot;c"), "{page}");
    assert!(!page.contains("a<b"), "{page}");
    assert_eq!(page.matches("class=\"op\"").count(), 2);
    assert_eq!(page.matches("class=\"crosses\"").count(), 1);
    assert!(!page.contains("http:") || page.matches("http:").count() == 1, "only a namespace");
    assert!(!page.contains("@ops-json@") && !page.contains("@nodes@"));
}

#[test]
fn what_was_measured_takes_the_place_of_estimates() {
    let (view, _) = graph(
        "x = arg 100xf32
         a = relu(x) : 100xf32
         b = tanh(a) : 100xf32
         return b",
    );
    let mut npu = priced("npu", &[("relu(x)", "1"), ("tanh(x)", "1")]);
    npu.search = true;
    with(&view, &[npu], |request| {
        let id = |op: u32| vec![OpId(op)];
        let entry = |op: u32, pattern: Option<&str>, ns: f64| {
            ((pattern.map(str::to_owned), key(request.graph, &id(op))), ns)
        };
        // A region of one match: 800 bytes and a call are in the 1000 ns.
        let device = Times::from([entry(0, Some("relu(x)"), 1000.0)]);
        let host = Times::from([entry(0, None, 3000.0)]);
        let measured = Measured { devices: vec![device], host };
        let request = Request { measured: Some(&measured), ..*request };
        let found = super::super::partition(&request).expect("divides");
        // The estimates alone would leave everything on the host, and both on the device cost less
        // than one of them.
        assert_eq!(regions(&found), "npu:0,1");
        let [region] = found.costs.regions.as_slice() else { panic!("{found:?}") };
        assert_eq!((region.work, region.total()), (191.0, 1001.0));
        assert_eq!((found.costs.measured, found.costs.prices), (2, 4));
        assert_eq!(
            (found.costs.match_measured, found.costs.host_measured),
            (vec![true, false], vec![true, false])
        );
        assert!(found.costs.total <= found.costs.greedy);
    });
}
