//! Runs the steps of a function on what is in its buffers: who wrote which bytes, the last one last.
//!
//! The body of a loop, or of a nest of loops, is gone through twice, so that a read also sees what earlier
//! iterations wrote. What is not known to be overwritten stays, so that a read sees at least all that it may see.

use super::{
    NOTHING,
    place::{HANDED_ON, Place},
    range::{Counter, Range},
    tree::{Access, Step, Tree},
};
use std::collections::HashSet;

/// Bytes that were written.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub range: Range,
    /// The numbers of what wrote them; more than one where they were moved; none for what is new.
    pub writers: Vec<i64>,
    /// The access that did it; none for what is there from the start.
    pub by: Option<usize>,
    /// The nests in an iteration of which before the present one that was.
    earlier: Vec<Vec<usize>>,
    /// Number of loops that are over and may have written a byte more than once: only the last
    /// write is left.
    pub lossy: i64,
    pub time: usize,
}

/// A read, with what it may see.
pub(super) struct Sight<'a> {
    pub access: usize,
    pub operand: usize,
    /// In the order of writing.
    pub seen: Vec<&'a Content>,
    /// True if all loops around are in their first iteration.
    pub is_first: bool,
    /// True if all loops around have been gone through before.
    pub is_last: bool,
    /// Numbers of all that has written.
    pub done: &'a HashSet<i64>,
    open: &'a dyn Fn(usize) -> Option<Counter>,
}

impl Sight<'_> {
    /// True if two contents may have bytes in common.
    pub fn meet(&self, a: &Content, b: &Content) -> bool {
        // Bytes of different iterations are compared as those of any.
        let earlier = a.earlier != b.earlier;
        earlier || a.range.meets(&b.range, &[], self.open)
    }

    /// Number of loops that may have written a byte of a content more than once, also of those that
    /// are not over. If loops are no nest, the inner ones are over when the next iteration of the
    /// outer one begins.
    pub fn lossy(&self, content: &Content) -> i64 {
        let may_repeat = |key: &&usize| {
            (self.open)(**key).is_none_or(|counter| content.range.repeats(**key, counter))
        };
        let open = content.earlier.iter().flatten().filter(may_repeat).count();
        content.lossy.saturating_add(open as i64)
    }
}

/// Receiver of reads; an error that it returns ends the walk.
pub(super) type Told<'a, E> = &'a mut dyn FnMut(&Sight<'_>) -> Result<(), E>;

pub(super) struct Walk<'t, 'c> {
    accesses: &'t [Access<'c>],
    /// The number of each access; none for one that is new.
    numbers: &'t [Option<i64>],
    contents: Vec<Vec<Content>>,
    open: Vec<(usize, Counter)>,
    done: HashSet<i64>,
    /// Loops that are not in their first iteration.
    again: usize,
    /// Loops that are in their first one, and have others.
    fresh: usize,
    /// Branches, and loops that may not run, around.
    maybe: usize,
    clock: usize,
    /// Contents that were looked at.
    effort: usize,
    /// True if a loop counts as one that writes over its own only where its bytes are known.
    strict: bool,
}

impl<'t, 'c> Walk<'t, 'c> {
    pub fn new(tree: &'t Tree<'c>, numbers: &'t [Option<i64>], strict: bool) -> Self {
        let mut walk = Self {
            accesses: &tree.accesses,
            numbers,
            contents: vec![],
            open: vec![],
            done: HashSet::from([0, NOTHING]),
            again: 0,
            fresh: 0,
            maybe: 0,
            clock: 0,
            effort: 0,
            strict,
        };
        for root in &tree.filled {
            let all = Range { dense: true, ..Range::whole() };
            walk.push(&Place { root: *root, range: all }, (vec![0], 0), None);
        }
        walk
    }

    pub fn run<E>(&mut self, steps: &[Step], told: Told<'_, E>) -> Result<(), E> {
        for step in steps {
            match step {
                Step::Make(root) => self.of(*root).clear(),
                Step::Access(access) => self.access(*access, told)?,
                Step::Loop(_) | Step::Maybe(..) => self.nest(step, told)?,
            }
        }
        Ok(())
    }

    /// Goes through a chain of loops and branches as one, if each but the last contains nothing but
    /// the next. One by one, the body would run 2 to the power of their number times.
    fn nest<E>(&mut self, outer: &Step, told: Told<'_, E>) -> Result<(), E> {
        let start = self.clock;
        let (mut counted, mut again) = (vec![], vec![]);
        let mut is_maybe = false;
        let mut body = std::slice::from_ref(outer);
        loop {
            body = match body {
                [Step::Loop(known)] => {
                    counted.push((known.key, known.counter));
                    again.extend((known.counter.first < known.counter.last).then_some(known.key));
                    &known.body
                }
                [Step::Maybe(inside, repeats)] => {
                    is_maybe = true;
                    again.extend(repeats.then_some(UNCOUNTED));
                    inside
                }
                _ => break,
            };
        }
        let repeats = !again.is_empty();
        self.open.extend(&counted);
        self.maybe += usize::from(is_maybe);
        self.fresh += usize::from(repeats);
        self.run(body, told)?;
        if repeats {
            (self.fresh, self.again) = (self.fresh - 1, self.again + 1);
            self.since(start).for_each(|content| content.earlier.push(again.clone()));
            self.run(body, told)?;
            self.since(start).for_each(|content| content.earlier.retain(|nest| *nest != again));
            self.again -= 1;
        }
        self.maybe -= usize::from(is_maybe);
        self.open.truncate(self.open.len() - counted.len());
        for known in counted.into_iter().rev() {
            for contents in &mut self.contents {
                close(contents, known, start, self.strict);
            }
        }
        Ok(())
    }

    /// True if the function is too large to be gone through to its end.
    pub fn has_given_up(&self) -> bool {
        self.effort > MOST_EFFORT
    }

    /// The contents that were written after a time.
    fn since(&mut self, start: usize) -> impl Iterator<Item = &mut Content> {
        self.contents.iter_mut().flatten().filter(move |content| content.time > start)
    }

    fn access<E>(&mut self, number: usize, told: Told<'_, E>) -> Result<(), E> {
        if self.has_given_up() {
            return Ok(());
        }
        let accesses = self.accesses;
        let access = &accesses[number];
        let places = access.reads.iter().map(|(_, place)| place).chain(&access.writes);
        let known = places.map(|place| self.contents.get(place.root).map_or(0, Vec::len));
        self.effort += known.sum::<usize>();
        for (operand, place) in &access.reads {
            let open = |key| counter(&self.open, key);
            let seen = self.seen(place);
            told(&Sight {
                access: number,
                operand: *operand,
                seen,
                is_first: self.again == 0,
                is_last: self.fresh == 0,
                done: &self.done,
                open: &open,
            })?;
        }
        let moved: Vec<(Vec<i64>, i64)> = match self.numbers[number] {
            Some(own) => vec![(vec![own], 0)],
            None => {
                let from = access.moved.iter().flat_map(|place| self.seen(place));
                from.map(|content| (content.writers.clone(), content.lossy)).collect()
            }
        };
        self.done.extend(self.numbers[number]);
        // All that one access moves is there at once: none of it is over another.
        self.clock += 1;
        for place in &access.writes {
            // What moves bytes to where they are changes nothing.
            let is_there = |from: &Place| from.root == place.root && from.range == place.range;
            let is_known = place.root != HANDED_ON;
            if self.numbers[number].is_none()
                && is_known
                && access.moved.iter().all(is_there)
                && !access.moved.is_empty()
            {
                continue;
            }
            for writers in &moved {
                let mut place = place.clone();
                place.range.dense &= moved.len() == 1;
                self.push(&place, writers.clone(), Some(number));
            }
            if moved.is_empty() {
                self.push(place, (vec![], 0), Some(number));
            }
        }
        Ok(())
    }

    fn of(&mut self, root: usize) -> &mut Vec<Content> {
        if self.contents.len() <= root {
            self.contents.resize(root + 1, vec![]);
        }
        &mut self.contents[root]
    }

    fn seen(&self, place: &Place) -> Vec<&Content> {
        let open = |key| counter(&self.open, key);
        let all = self.contents.get(place.root).map(Vec::as_slice).unwrap_or_default();
        let meets = |content: &&Content| content.range.meets(&place.range, &content.earlier, &open);
        all.iter().filter(meets).collect()
    }

    fn push(&mut self, place: &Place, (writers, lossy): (Vec<i64>, i64), by: Option<usize>) {
        let mut range = place.range.clone();
        range.dense &= self.maybe == 0;
        let time = self.clock;
        let contents = self.of(place.root);
        // Those of other iterations are elsewhere, where the iteration says where.
        contents.retain(|old| {
            let is_same = !range
                .terms
                .iter()
                .any(|(key, _)| old.earlier.iter().flatten().any(|of| of == key));
            !(is_same && range.covers(&old.range))
        });
        contents.push(Content { range, writers, by, earlier: vec![], lossy, time });
    }
}

/// Contents that are looked at for one function at most.
const MOST_EFFORT: usize = 20_000_000;

/// The key of a loop that runs an unknown number of times. No bytes are known to depend on it.
const UNCOUNTED: usize = usize::MAX;

fn counter(open: &[(usize, Counter)], key: usize) -> Option<Counter> {
    open.iter().find(|(open, _)| *open == key).map(|(_, counter)| *counter)
}

/// Ends a loop that began at time `start`.
fn close(
    contents: &mut Vec<Content>,
    (key, counter): (usize, Counter),
    start: usize,
    strict: bool,
) {
    if contents.last().is_none_or(|last| last.time <= start) {
        return;
    }
    for content in contents.iter_mut() {
        let counts = content.time > start && (content.range.dense || !strict);
        let again = content.range.close(key, counter) && counts;
        content.lossy += i64::from(again);
    }
    // What both times through the body wrote is one.
    let mut kept: Vec<Content> = vec![];
    for content in std::mem::take(contents).into_iter().rev() {
        let is_known = |other: &Content| {
            let same = other.by == content.by && other.writers == content.writers;
            let place = other.range == content.range && other.earlier == content.earlier;
            same && place && other.lossy == content.lossy
        };
        let is_overwritten = |other: &Content| {
            other.time > start && content.time <= start && other.range.covers(&content.range)
        };
        if !kept.iter().any(|other| is_known(other) || is_overwritten(other)) {
            kept.push(content);
        }
    }
    kept.reverse();
    *contents = kept;
}
