//! Random functions that call each other: a plan is run, call by call, and all bytes that are in use
//! at one time are compared.

use super::{
    Buffer,
    program::{Call, Frame, Function, plan},
};
use proptest::prelude::*;

/// The use of bytes: first and last point, first byte and the one after the last.
type Use = ((usize, usize), (u64, u64));

fn function(callees: usize) -> impl Strategy<Value = Vec<Option<usize>>> {
    prop::collection::vec(prop::option::of(0..callees.max(1)), 1..5).prop_map(move |steps| {
        steps.into_iter().map(|callee| callee.filter(|callee| *callee < callees)).collect()
    })
}

/// Functions with bodies of a few steps, some of them calls, and buffers that are in use from any
/// point to any other, also inside of calls.
fn programs() -> impl Strategy<Value = Vec<Function>> {
    let buffers = || prop::collection::vec((0..200_u64, 0..3_u32, 0.0..1.0, 0.0..1.0), 0..4);
    let one = move |place: usize| (function(place), buffers(), prop::bool::weighted(0.15));
    (1..6_usize).prop_flat_map(move |count| (0..count).map(one).collect::<Vec<_>>()).prop_map(
        |scripts| {
            let mut functions: Vec<Function> = vec![];
            for (steps, buffers, opaque) in scripts {
                let mut made = Function { length: 1, opaque, ..Function::default() };
                for callee in steps {
                    let (start, inside) = (made.length, callee.map_or(0, |c| functions[c].length));
                    made.length += inside + 2;
                    let span = (start, made.length - 1);
                    made.calls.extend(callee.map(|callee| Call { callee, span, start: start + 1 }));
                }
                for (size, align, from, to) in buffers {
                    let point = |part: f64| (part * made.length as f64) as usize;
                    let (from, to): (usize, usize) = (point(from), point(to));
                    let span = (from.min(to), from.max(to));
                    made.buffers.push(Buffer::once(size, 1 << align, span));
                }
                functions.push(made);
            }
            functions
        },
    )
}

/// Collects the uses of memory in a run of a function, from `clock` on and with its frame at
/// `base`.
fn run(
    (functions, frames): (&[Function], &[Frame]),
    place: usize,
    (clock, base): (usize, u64),
    uses: &mut Vec<Use>,
) {
    let (function, frame) = (&functions[place], &frames[place]);
    for (buffer, offset) in function.buffers.iter().zip(&frame.buffers) {
        assert_eq!((base + offset) % buffer.align, 0);
        assert!(offset + buffer.size <= frame.bytes);
        let (start, end) = buffer.spans[0];
        uses.push(((clock + start, clock + end), (base + offset, base + offset + buffer.size)));
    }
    for (call, offset) in function.calls.iter().zip(&frame.calls) {
        let bytes = frames[call.callee].bytes;
        assert!(offset + bytes <= frame.bytes);
        if functions[call.callee].opaque {
            let span = (clock + call.span.0, clock + call.span.1);
            uses.push((span, (base + offset, base + offset + bytes)));
        } else {
            run((functions, frames), call.callee, (clock + call.start, base + offset), uses);
        }
    }
}

fn overlap(a: &Use, b: &Use) -> bool {
    let (bytes, others) = (a.1, b.1);
    let shared = bytes.0.max(others.0) < bytes.1.min(others.1);
    shared && a.0.0 <= b.0.1 && b.0.0 <= a.0.1
}

proptest! {
    #[test]
    fn runs_of_planned_programs_share_no_bytes(functions in programs(), guard in 0..2_u64) {
        let frames = plan(&functions, guard * 64).expect("a plan");
        prop_assert_eq!(&frames, &plan(&functions, guard * 64).expect("a plan"));
        for root in 0..functions.len() {
            let mut uses = vec![];
            run((&functions, &frames), root, (0, 0), &mut uses);
            for (index, first) in uses.iter().enumerate() {
                for second in &uses[index + 1..] {
                    prop_assert!(!overlap(first, second), "{first:?} {second:?} {frames:?}");
                }
            }
            let Some(bound) = frames[root].bound else { continue };
            prop_assert!(bound.bytes <= frames[root].bytes);
            prop_assert!(bound.point <= functions[bound.function].length);
        }
    }

    #[test]
    fn bounds_are_the_most_bytes_in_use(functions in programs()) {
        let frames = plan(&functions, 0).expect("a plan");
        let root = functions.len() - 1;
        let mut uses = vec![];
        run((&functions, &frames), root, (0, 0), &mut uses);
        let bytes = |clock: usize| -> u64 {
            let now = uses.iter().filter(|one| one.0.0 <= clock && clock <= one.0.1);
            now.map(|one| one.1.1 - one.1.0).sum()
        };
        let most = (0..functions[root].length).map(bytes).max().unwrap_or(0);
        // What is called by functions that are planned apart is a whole for both.
        let apart = functions.iter().any(|function| function.opaque)
            || frames[..root].iter().any(|frame| frame.bound.is_some());
        if let (Some(bound), false) = (frames[root].bound, apart) {
            prop_assert_eq!(bound.bytes, most);
        }
    }
}

#[test]
fn a_frame_lies_where_what_the_caller_needs_no_more_was() {
    let callee = Function {
        length: 10,
        buffers: vec![Buffer::once(64, 64, (0, 4)), Buffer::once(128, 64, (5, 9))],
        ..Function::default()
    };
    // The argument is in use up to the middle of the call.
    let caller = Function {
        length: 14,
        buffers: vec![Buffer::once(128, 64, (0, 6))],
        calls: vec![Call { callee: 0, span: (1, 12), start: 2 }],
        opaque: false,
    };
    let frames = plan(&[callee.clone(), caller.clone()], 0).expect("a plan");
    assert_eq!(frames[1].bytes, 192);
    assert_eq!(
        frames[1].bound.map(|bound| (bound.bytes, bound.function, bound.point)),
        Some((192, 0, 0))
    );
    // A callee that nobody looks into is apart from it.
    let frames = plan(&[Function { opaque: true, ..callee }, caller], 0).expect("a plan");
    assert_eq!(frames[1].bytes, 256);
}
