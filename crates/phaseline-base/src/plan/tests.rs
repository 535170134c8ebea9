use super::*;
use proptest::prelude::*;

fn buffer(size: u64, start: usize, end: usize) -> Buffer {
    Buffer::once(size, 1, (start, end))
}

#[test]
fn disjoint_lifetimes_share_bytes() {
    let plan = plan(&[buffer(10, 0, 1), buffer(8, 2, 3), buffer(4, 4, 4)]).unwrap();
    assert_eq!((plan.offsets, plan.peak, plan.lower_bound), (vec![0, 0, 0], 10, 10));
}

#[test]
fn alignment_leaves_holes() {
    let aligned = |size| Buffer::once(size, 64, (0, 0));
    let plan = plan(&[aligned(1), aligned(1)]).unwrap();
    assert_eq!((plan.peak, plan.lower_bound), (65, 2));
}

#[test]
fn nothing_needs_nothing() {
    assert_eq!(plan(&[]).unwrap().peak, 0);
    assert_eq!(plan(&[buffer(0, 0, 5), buffer(0, 0, 5)]).unwrap().peak, 0);
}

#[test]
fn bad_plans_are_found() {
    let buffers = [buffer(4, 0, 2), Buffer { align: 8, ..buffer(4, 2, 3) }];
    let check = |offsets: &[u64], peak| {
        validate(&buffers, &Plan { offsets: offsets.to_vec(), peak, lower_bound: 0, fullest: 0 })
    };
    assert_eq!(check(&[0, 8], 12), Ok(()));
    assert_eq!(check(&[0], 12), Err(PlanError::Count { offsets: 1, buffers: 2 }));
    assert_eq!(check(&[0, 4], 12), Err(PlanError::Misaligned(1)));
    assert_eq!(check(&[0, 8], 11), Err(PlanError::Outside(1)));
    assert_eq!(check(&[1, 0], 12), Err(PlanError::Overlap(0, 1)));
}

#[test]
fn sizes_that_overflow_are_refused() {
    assert_eq!(plan(&[buffer(u64::MAX, 0, 0), buffer(2, 0, 0)]), Err(PlanError::TooLarge));
}

fn buffers(count: usize, size: u64, points: usize) -> impl Strategy<Value = Vec<Buffer>> {
    let one = (0..=size, prop::collection::btree_set(0..points, 1..5), 0..3_u32);
    let one = one.prop_map(|(size, points, align)| {
        let points: Vec<_> = points.into_iter().collect();
        let spans = points.chunks(2).map(|pair| (pair[0], *pair.last().unwrap())).collect();
        Buffer { size, align: 1 << align, spans }
    });
    prop::collection::vec(one, 0..=count)
}

impl Buffer {
    /// True if both are in use at some point.
    fn meets(&self, other: &Buffer) -> bool {
        let meet = |a: &Span, b: &Span| a.0 <= b.1 && b.0 <= a.1;
        self.spans.iter().any(|a| other.spans.iter().any(|b| meet(a, b)))
    }
}

/// The least peak of any plan, by trying every offset of every buffer.
fn optimum(buffers: &[Buffer], limit: u64) -> u64 {
    fn search(buffers: &[Buffer], offsets: &mut Vec<u64>, peak: u64, best: &mut u64) {
        if peak >= *best {
            return;
        }
        let Some(buffer) = buffers.get(offsets.len()) else {
            *best = peak;
            return;
        };
        let mut offset = 0;
        while offset + buffer.size < *best {
            let free = offsets.iter().zip(buffers).all(|(other, b)| {
                !b.meets(buffer) || offset >= other + b.size || *other >= offset + buffer.size
            });
            if free {
                offsets.push(offset);
                search(buffers, offsets, peak.max(offset + buffer.size), best);
                offsets.pop();
            }
            offset += buffer.align;
        }
    }
    let mut best = limit + 1;
    search(buffers, &mut vec![], 0, &mut best);
    best
}

proptest! {
    #[test]
    fn plans_are_valid_and_repeatable(buffers in buffers(40, 300, 30)) {
        let found = plan(&buffers).unwrap();
        prop_assert_eq!(validate(&buffers, &found), Ok(()));
        prop_assert!(found.peak >= found.lower_bound);
        prop_assert_eq!(found, plan(&buffers).unwrap());
    }

    #[test]
    fn few_buffers_are_planned_optimally(buffers in buffers(6, 5, 5)) {
        let found = plan(&buffers).unwrap();
        prop_assert_eq!(found.peak, optimum(&buffers, found.peak));
    }

    #[test]
    fn validation_agrees_with_its_definition(
        buffers in buffers(5, 4, 4),
        offsets in prop::collection::vec(0..8_u64, 5),
    ) {
        let offsets = offsets[..buffers.len()].to_vec();
        let found = Plan { peak: 8, offsets, lower_bound: 0, fullest: 0 };
        let inside = |i: usize| found.offsets[i] + buffers[i].size <= 8
            && found.offsets[i].is_multiple_of(buffers[i].align);
        let apart = |i: usize, j: usize| !buffers[i].meets(&buffers[j])
            || (0..12).all(|byte| {
                let has = |k: usize| (found.offsets[k]..found.offsets[k] + buffers[k].size)
                    .contains(&byte);
                !(has(i) && has(j))
            });
        let all = 0..buffers.len();
        let good = all.clone().all(inside)
            && all.clone().all(|i| all.clone().all(|j| i == j || apart(i, j)));
        prop_assert_eq!(validate(&buffers, &found).is_ok(), good);
    }
}
