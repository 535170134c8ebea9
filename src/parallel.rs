//! Work on a few threads, with results in the order of what was given.

use std::{
    num::NonZero,
    sync::{Mutex, PoisonError},
    thread,
};

/// What `work` makes of each item, on as many threads as there are processors and items, and this one among them.
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
    thread::scope(|scope| {
        for _ in 1..threads {
            // A thread that the system does not give leaves more for the others.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_have_the_order_of_items() {
        let numbers: Vec<u32> = (0..100).collect();
        let doubled: Vec<u32> = (0..200).step_by(2).collect();
        assert_eq!(map(numbers.iter(), |number| number * 2), doubled);
        assert!(map([].iter(), |number: &u32| *number).is_empty());
        let mut places = vec![0; 9];
        map(places.iter_mut().enumerate(), |(place, value)| *value = place);
        assert_eq!(places, (0..9).collect::<Vec<_>>());
    }
}
