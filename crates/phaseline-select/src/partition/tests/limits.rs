//! Limits on regions, and what is said of regions before they have their places.

use super::*;
use crate::{
    expr::Expr,
    partition::{Judged, Judgement},
    pattern::RegionLimits,
};

const CHAIN: &str = "
    x = arg 4xf32
    a = relu(x)
    b = add(a, x)
    c = relu(b)
    d = relu(c)
    return d";

fn limited(limits: RegionLimits) -> Owned {
    let mut owned = simple("npu", &["relu(x)", "add(x, y)"]);
    owned.capabilities.region = limits;
    owned
}

fn condition(text: &str) -> RegionLimits {
    let expr = Expr::parse(text).unwrap_or_else(|error| panic!("{error}"));
    RegionLimits { conditions: vec![(text.to_owned(), expr)], ..RegionLimits::default() }
}

#[test]
fn regions_stay_within_their_limits() {
    let (view, _) = graph(CHAIN);
    let most = |text: &str| RegionLimits {
        max_operations: Some(Expr::parse(text).unwrap_or_else(|error| panic!("{error}"))),
        ..RegionLimits::default()
    };
    let once = RegionLimits { once: vec!["relu(x)".to_owned()], ..RegionLimits::default() };
    let table = [
        (RegionLimits::default(), "npu:0,1,2,3", ""),
        (most("4"), "npu:0,1,2,3", ""),
        (most("2"), "npu:0,1 npu:2,3", "4 operations; max-operations is 2"),
        (most("1"), "npu:0 npu:1 npu:2 npu:3", "2 operations; max-operations is 1"),
        (once, "npu:0,1 npu:2 npu:3", "2 matches of 'relu(x)'; `once` allows one"),
        (
            condition("sum(values) <= 48"),
            "npu:0,1 npu:2,3",
            "`sum(values) <= 48` as in values = [16, 16, 16, 16, 16]",
        ),
        (
            condition(
                "len(inputs) < 3 and len(outputs) == 1 and max(values) < 17 and operations < 9",
            ),
            "npu:0,1,2,3",
            "",
        ),
    ];
    for (limits, wanted, refused) in table {
        let partition = run(&view, &[limited(limits)]);
        assert_eq!(regions(&partition), wanted);
        match partition.refused.first() {
            Some(merge) => {
                assert_eq!(merge.reason, RefusedReason::Limit { limit: refused.to_owned() });
            }
            None => assert_eq!(refused, ""),
        }
    }
}

#[test]
fn a_match_that_breaks_a_limit_alone_goes_elsewhere() {
    let (view, _) = graph(CHAIN);
    // The sum has two values that enter it; alone, the sizes of all three are too much.
    let small = limited(condition("sum(values) <= 32"));
    let partition = run(&view, &[small, simple("dsp", &["add(x, y)"])]);
    assert_eq!(regions(&partition), "npu:0 dsp:1 npu:2 npu:3");
    let text = partition.verdicts[1][0].text(&view);
    let limit = "a region may not have `sum(values) <= 32` as in values = [16, 16, 16]";
    assert_eq!(text, format!("'add(x, y)' matches, but {limit}"));
    let (view, _) = graph("x = arg ?xf32\na = relu(x)\nreturn a");
    let partition = run(&view, &[limited(condition("max(values) < 1000000"))]);
    assert_eq!(regions(&partition), "", "a size that is not known holds no condition");
}

#[test]
fn what_was_said_of_regions_counts() {
    let (view, _) = graph(CHAIN);
    let devices = [limited(RegionLimits::default()), simple("dsp", &["add(x, y)"])];
    let ops: Vec<OpId> = (0..4).map(OpId).collect();
    let with_said = |judgement: Judgement| {
        let judged = [Judged { device: 0, ops: ops.clone(), judgement }];
        with(&view, &devices, |request| {
            super::super::partition(&Request { judged: &judged, ..*request }).expect("divides")
        })
    };
    let cost = with_said(Judgement { cost: Some(7.0), ..Judgement::default() });
    assert_eq!(regions(&cost), "npu:0,1,2,3");
    assert_eq!(cost.costs.regions[0].work, 7.0);
    let declined = Judgement { declined: Some("too long".to_owned()), ..Judgement::default() };
    let declined = with_said(declined);
    assert_eq!(regions(&declined), "dsp:1");
    assert_eq!(
        declined.verdicts[0][0].text(&view),
        "'relu(x)' matches, but the hook graph-to-runtime declines its region: too long"
    );
    let dear = with_said(Judgement { dear: true, ..Judgement::default() });
    assert_eq!(regions(&dear), "dsp:1");
}
