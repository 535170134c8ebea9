use super::*;
use crate::tile::plan::Plan;
use proptest::prelude::*;

/// A call that reads windows of rows and writes rows, 16 bytes each.
fn call(bytes: i64, input: i64, kernel: i64, stride: i64, pad: i64) -> Call {
    let extent = (input + 2 * pad - kernel) / stride + 1;
    let text = format!(
        r#"{{"pools": [{{"name": "pad", "bytes": {bytes}, "alignment": 16, "dma": {{
              "channels": 3, "dims": 2, "double_buffer": true, "keep_results": true, "cost": "8 + bytes"}}}}],
            "loops": [{{"name": "rows", "extent": {extent}, "multiple": 1, "max": 0, "reduce": false, "windows": [
              {{"tensor": "x", "dim": 0, "input": {input}, "kernel": {kernel}, "stride": {stride},
                "dilation": 1, "pad": {pad}}}]}}],
            "tensors": [
              {{"name": "x", "element": 4, "dims": [
                {{"size": {input}, "cut": 0, "divisor": 1, "window": 0}},
                {{"size": 4, "cut": -1, "divisor": 1, "window": -1}}]}},
              {{"name": "y", "element": 4, "dims": [
                {{"size": {extent}, "cut": 0, "divisor": 1, "window": -1}},
                {{"size": 4, "cut": -1, "divisor": 1, "window": -1}}]}}],
            "args": [{{"place": 0, "field": "", "value": "tile.x.pad[0]"}}], "cost": "tile.rows"}}"#
    );
    let plan: Plan = serde_json::from_str(&text).expect("a plan");
    plan.check().expect("a plan without fault");
    Call { plan, reads: 1 }
}

/// Calls of which each reads what the one before writes.
fn chain(bytes: i64, rows: i64, windows: &[(i64, i64, i64)]) -> Option<Vec<Link>> {
    let mut input = rows;
    let mut links = vec![];
    for (kernel, stride, pad) in windows {
        if input + 2 * pad < *kernel || pad >= kernel {
            return None;
        }
        let call = call(bytes, input, *kernel, *stride, *pad);
        input = call.plan.loops[0].extent;
        links.push(Link { call, reads: (!links.is_empty()).then_some(0) });
    }
    Some(links)
}

/// Rows of the first input that row `row` of the last result depends on, by taps: none is a zero row.
fn taps(links: &[Link], row: i64) -> Vec<Option<i64>> {
    let Some((last, before)) = links.split_last() else { return vec![Some(row)] };
    let window = &last.call.plan.loops[0].windows[0];
    (0..window.kernel)
        .flat_map(|tap| {
            let read = row * window.stride - window.pad + tap;
            match (0..window.input).contains(&read) {
                true => taps(before, read),
                false => vec![None],
            }
        })
        .collect()
}

/// The same in stripe `at`: rows of the parts, which start at `slices`.
fn taps_of(parts: &[Part], at: i64, row: i64) -> Vec<Option<i64>> {
    let Some((last, before)) = parts.split_last() else { return vec![Some(row)] };
    let window = &last.call.plan.loops[0].windows[0];
    (0..window.kernel)
        .flat_map(|tap| {
            let read = row * window.stride - window.pad + tap;
            match (0..window.input).contains(&read) {
                // The first call reads a part of the input; the others all that the one before wrote.
                true if before.is_empty() => {
                    let slice = last.slices[0][0];
                    vec![Some(slice.start + slice.step * at + read)]
                }
                true => taps_of(before, at, read),
                false => vec![None],
            }
        })
        .collect()
}

proptest! {
    /// Each row of the result is in one stripe, and is computed of the same rows as without stripes.
    #[test]
    fn stripes_compute_what_the_chain_computes(
        rows in 4..40_i64,
        windows in prop::collection::vec((1..5_i64, 1..3_i64, 0..3_i64), 2..5),
        size in 1..12_i64,
    ) {
        let Some(links) = chain(1 << 20, rows, &windows) else { return Ok(()) };
        let extent = links.last().map_or(0, |link| link.call.plan.loops[0].extent);
        let Some(found) = stripes(&links, (0, size.min(extent)), false) else { return Ok(()) };
        let mut next = 0;
        for run in &found {
            for at in 0..run.count {
                let last = run.parts.last().expect("a part");
                let slice = last.slices[1][0];
                prop_assert_eq!(slice.start + slice.step * at, next);
                for row in 0..slice.size {
                    prop_assert_eq!(taps_of(&run.parts, at, row), taps(&links, next + row));
                }
                next += slice.size;
                for pair in run.parts.windows(2) {
                    let written = &pair[0].call.plan.tensors[1];
                    let read = &pair[1].call.plan.tensors[0];
                    prop_assert!(written.kept && read.kept);
                    prop_assert_eq!(written.dims[0].size, read.dims[0].size);
                }
            }
        }
        prop_assert_eq!(next, extent);
    }
}

#[test]
fn what_lies_between_stays_where_transfers_cost_more_than_windows() {
    let links = chain(1024, 64, &[(3, 1, 1), (1, 1, 0)]).expect("a chain");
    let found = cascades(&links, &mut Costs::default()).expect("plans without fault");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].calls, 0..2);
    assert!(found[0].stripes.len() > 1);
}

#[test]
fn all_of_it_stays_where_there_is_room() {
    let mut links = chain(8192, 64, &[(3, 1, 1), (1, 1, 0)]).expect("a chain");
    // Without loads ahead, stripes gain nothing.
    for link in &mut links {
        link.call.plan.pools[0].dma.double_buffer = false;
    }
    let found = cascades(&links, &mut Costs::default()).expect("plans without fault");
    assert!(found.is_empty());
}

#[test]
fn calls_that_are_told_the_ends_are_whole() {
    let mut links = chain(1024, 64, &[(3, 1, 1), (1, 1, 0)]).expect("a chain");
    links[0].call.plan.args[0].value = "first(rows)".into();
    assert!(stripes(&links, (0, 8), false).is_none());
}
