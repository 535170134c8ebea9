use super::{Use, clash};

fn meet(a: &Use, b: &Use) -> bool {
    let at_once = a.start <= b.end && b.start <= a.end;
    let bytes = a.offset < b.offset + b.size && b.offset < a.offset + a.size;
    a.buffer != b.buffer && at_once && bytes
}

#[test]
fn the_search_finds_a_clash_where_one_is() {
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..3_000 {
        let mut uses = vec![];
        for buffer in 0..2 + next(6) as usize {
            let (offset, size) = (next(40), next(12));
            // Lives of one buffer follow each other, or touch.
            let mut start = next(20) as usize;
            for _ in 0..1 + next(2) {
                let end = start + next(5) as usize;
                uses.push(Use { start, end, offset, size, buffer });
                start = end + next(4) as usize;
            }
        }
        let pairs = uses.iter().flat_map(|a| uses.iter().map(move |b| (a, b)));
        let expected = pairs.filter(|(a, b)| a.size > 0 && b.size > 0 && meet(a, b)).count() > 0;
        let found = clash(&uses);
        assert_eq!(found.is_some(), expected, "{uses:?}");
        if let Some((a, b)) = found {
            assert!(meet(&a, &b), "{a:?} {b:?}");
        }
        *(if expected { &mut wrong } else { &mut right }) += 1;
    }
    assert!(right > 300 && wrong > 300, "{right} {wrong}");
}

#[test]
fn many_buffers_are_quick() {
    // All in use at once, side by side: with pairs compared this would be 10^10 steps.
    let uses: Vec<_> = (0..100_000)
        .map(|buffer| Use { start: 0, end: 1, offset: buffer as u64 * 64, size: 64, buffer })
        .collect();
    assert_eq!(clash(&uses), None);
}
