//! Work on several threads, with results in the order of what was given.

use crate::{Error, Result};
use std::{
    num::NonZero,
    sync::{Mutex, mpsc},
    thread,
};

/// Bytes of stack of a thread: as many as that of a program, as LLVM goes deep.
const STACK: usize = 8 << 20;

/// Does `work` with each of `count` inputs, on as many threads as there are processors. This thread makes the
/// inputs one after the other, and then works too.
pub(super) fn map<I: Send, O: Send>(
    inputs: impl Iterator<Item = Result<I>>,
    count: usize,
    work: impl Fn(I) -> Result<O> + Sync,
) -> Result<Vec<O>> {
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let run = || {
        let mut done = vec![];
        while let Some((index, input)) = next(&receiver) {
            done.push((index, work(input)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(count);
        let start = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        // A thread that the system does not give leaves more for the others.
        let others: Vec<_> = (1..threads).map(start).filter_map(std::io::Result::ok).collect();
        let mut failure = None;
        for (index, input) in inputs.enumerate() {
            match input {
                Ok(input) => sender.send((index, input)).unwrap_or_default(),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        drop(sender);
        let mut done = run();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(_) => failure = failure.or(Some(Error::internal("a thread died"))),
            }
        }
        failure.map_or(Ok(done), Err)
    })?;
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, output)| output).collect()
}

fn next<I>(receiver: &Mutex<mpsc::Receiver<I>>) -> Option<I> {
    receiver.lock().ok()?.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::map;
    use crate::Error;

    #[test]
    fn results_have_the_order_of_inputs() {
        let inputs = (0..100_u32).map(Ok);
        let doubled = map(inputs, 100, |n| Ok(n * 2)).expect("no failure");
        assert_eq!(doubled, (0..200).step_by(2).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_failure_in_the_order_of_inputs_is_given() {
        let fail = |n: u32| if n < 3 { Ok(n) } else { Err(Error::invalid(format!("no {n}"))) };
        let error = map((0..9).map(Ok), 9, fail).expect_err("fails").to_string();
        assert!(error.contains("no 3"), "{error}");
        let error = map((0..9).map(fail), 9, Ok).expect_err("fails").to_string();
        assert!(error.contains("no 3"), "{error}");
    }
}
