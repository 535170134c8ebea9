//! Work on a few threads, with results in the order of what was given.

use std::{
    num::NonZero,
    sync::{Mutex, PoisonError},
    thread,
};
use tracing::{Span, dispatcher};

/// Results of `work` on the items, in their order. It runs on one thread for each processor, but on
/// no more than there are items, with this thread among them.
pub fn map<T: Send, R: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let items = Mutex::new(items.enumerate());
    let done = Mutex::new(vec![]);
    let run = || {
        while let Some((place, item)) = {
            let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
            items.next()
        } {
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    };
    // Programs listen to a thread and what it calls: other threads tell them, too.
    let (listener, span) = (dispatcher::get_default(Clone::clone), Span::current());
    let told = || dispatcher::with_default(&listener, || span.in_scope(run));
    thread::scope(|scope| {
        for _ in 1..threads {
            // A thread that the system does not give leaves more for the others.
            let _ = thread::Builder::new().spawn_scoped(scope, told);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Elements below which a thread more is not worth it.
const MANY: usize = 1 << 16;

/// Does `work` with each item, which together have so many elements: few are left to this thread.
pub fn each<T: Send>(items: Vec<T>, elements: usize, work: impl Fn(T) + Sync) {
    if elements < MANY {
        items.into_iter().for_each(work);
    } else {
        map(items.into_iter(), work);
    }
}

/// Copies parts to their places in a block: to touch new memory takes longer than to copy it. None if parts overlap
/// or are not inside.
pub fn copy(mut rest: &mut [u8], mut parts: Vec<(usize, &[u8])>) -> Option<()> {
    // What has no bytes is in front of what begins there.
    parts.sort_by_key(|(offset, bytes)| (*offset, bytes.len()));
    let mut places = vec![];
    let mut start = 0;
    for (offset, bytes) in parts {
        let (_, place) = rest.split_at_mut_checked(offset.checked_sub(start)?)?;
        let (place, after) = place.split_at_mut_checked(bytes.len())?;
        places.push((place, bytes));
        (rest, start) = (after, offset + bytes.len());
    }
    map(places.into_iter(), |(place, bytes)| place.copy_from_slice(bytes));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{MANY, copy, each, map};

    #[test]
    fn parts_go_to_their_places() {
        let mut block = [0; 8];
        assert!(copy(&mut block, vec![(5, &[3, 4]), (1, &[1, 2])]).is_some());
        assert_eq!(block, [0, 1, 2, 0, 0, 3, 4, 0]);
        for wrong in [[(0, 2), (1, 2)], [(0, 2), (7, 2)], [(0, 2), (9, 0)]] {
            let parts = wrong.map(|(offset, count)| (offset, &[7; 2][..count]));
            assert!(copy(&mut block, parts.to_vec()).is_none(), "{wrong:?}");
        }
        assert_eq!(block, [0, 1, 2, 0, 0, 3, 4, 0]);
        assert!(copy(&mut block, vec![(3, &[5, 6]), (3, &[]), (5, &[]), (8, &[])]).is_some());
        assert_eq!(block, [0, 1, 2, 5, 6, 3, 4, 0]);
    }

    #[test]
    fn results_have_the_order_of_items() {
        let numbers: Vec<u32> = (0..100).collect();
        let doubled: Vec<u32> = (0..200).step_by(2).collect();
        assert_eq!(map(numbers.iter(), |number| number * 2), doubled);
        assert!(map([].iter(), |number: &u32| *number).is_empty());
        let mut places = vec![0; 9];
        map(places.iter_mut().enumerate(), |(place, value)| *value = place);
        assert_eq!(places, (0..9).collect::<Vec<_>>());
        for elements in [1, MANY] {
            each(places.iter_mut().collect(), elements, |value| *value += 1);
        }
        assert_eq!(places, (2..11).collect::<Vec<_>>());
    }
}
