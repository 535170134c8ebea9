//! An order of the jobs of one window under a limit of bytes.

use super::Row;
use std::collections::HashSet;

/// A set of jobs of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Set([u64; super::WINDOW / 64]);

impl Set {
    fn with(mut self, at: usize) -> Self {
        self.0[at / 64] |= 1 << (at % 64);
        self
    }

    fn without(mut self, at: usize) -> Self {
        self.0[at / 64] &= !(1 << (at % 64));
        self
    }

    fn is_in(self, other: Self) -> bool {
        self.0.iter().zip(other.0).all(|(a, b)| a & !b == 0)
    }

    fn meets(self, other: Self) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
                (bit < 64).then_some(word * 64 + bit)
            })
        })
    }
}

/// A job of a window.
struct Local {
    before: Set,
    followers: Vec<usize>,
    buffers: Vec<usize>,
    scratch: u64,
}

/// A buffer that jobs of a window use.
struct Shared {
    size: u64,
    users: Set,
    /// True if it is in use before the window.
    begun: bool,
    /// True if it is in use behind the window.
    kept: bool,
}

/// Jobs that are done, jobs that may be next, and the bytes in use.
#[derive(Clone, Copy)]
struct State {
    done: Set,
    ready: Set,
    live: u64,
}

enum Outcome {
    Found,
    /// There is no such order.
    Nothing,
    /// The effort did not suffice.
    Spent,
}

/// Jobs of a window that look for an order.
pub(super) struct Search {
    jobs: Vec<Local>,
    buffers: Vec<Shared>,
    /// Bytes in use before the window.
    live: u64,
    /// States that no order under the limit goes through.
    failed: HashSet<Set>,
    trail: Vec<usize>,
    effort: usize,
}

impl Search {
    /// `ids` are the jobs of the window that begins at a place of the order.
    pub(super) fn new(
        row: &Row<'_>,
        ids: &[usize],
        (begin, places): (usize, &[usize]),
        live: u64,
    ) -> Self {
        let local = |job: &usize| places[*job].checked_sub(begin).filter(|at| *at < ids.len());
        let mut numbers: std::collections::HashMap<usize, usize> = std::collections::HashMap::new();
        let mut buffers: Vec<Shared> = vec![];
        let mut jobs = vec![];
        for id in ids {
            let job = &row.jobs[*id];
            let mut used = vec![];
            for buffer in &job.buffers {
                let number = *numbers.entry(*buffer).or_insert_with(|| {
                    let uses = &row.uses[*buffer];
                    buffers.push(Shared {
                        size: row.sizes[*buffer],
                        users: uses.iter().filter_map(local).fold(Set::default(), Set::with),
                        begun: uses.iter().any(|user| places[*user] < begin),
                        kept: uses.iter().any(|user| places[*user] >= begin + ids.len()),
                    });
                    buffers.len() - 1
                });
                used.push(number);
            }
            jobs.push(Local {
                before: job.after.iter().filter_map(local).fold(Set::default(), Set::with),
                followers: row.followers[*id].iter().filter_map(local).collect(),
                buffers: used,
                scratch: job.scratch,
            });
        }
        Self { jobs, buffers, live, failed: HashSet::new(), trail: vec![], effort: 0 }
    }

    /// The lowest peak that was found, `most` at first, and the order that has it if that is lower.
    /// Peaks below the floor are not looked for. The effort that this takes is deducted.
    pub(super) fn run(
        &mut self,
        most: u64,
        floor: u64,
        effort: &mut usize,
    ) -> (u64, Option<Vec<usize>>) {
        let mut low = floor.max(self.least());
        let (mut high, mut best) = (most, None);
        let mut limit = low;
        while low < high && *effort > 0 {
            self.effort = (*effort / 4).max(self.jobs.len() * 4);
            let granted = self.effort;
            let outcome = self.order(limit);
            *effort = effort.saturating_sub(granted - self.effort);
            match outcome {
                Outcome::Found => {
                    high = self.peak().min(limit);
                    best = Some(self.trail.clone());
                }
                Outcome::Nothing | Outcome::Spent => {
                    low = limit + 1;
                    self.failed.clear();
                }
            }
            limit = low + high.saturating_sub(low) / 2;
        }
        (high, best)
    }

    /// Lower bound for any order of the window: the most that one job uses, and what stays
    /// throughout.
    fn least(&self) -> u64 {
        let ends = |buffer: &&Shared| buffer.begun && !buffer.kept;
        let stays =
            self.live - self.buffers.iter().filter(ends).map(|buffer| buffer.size).sum::<u64>();
        let own = |job: &Local| {
            let used = job.buffers.iter().map(|number| &self.buffers[*number]);
            let more = used.filter(|buffer| !(buffer.begun && buffer.kept));
            job.scratch + more.map(|buffer| buffer.size).sum::<u64>()
        };
        stays + self.jobs.iter().map(own).max().unwrap_or(0)
    }

    fn order(&mut self, limit: u64) -> Outcome {
        self.trail.clear();
        let ready = (0..self.jobs.len()).filter(|at| self.jobs[*at].before == Set::default());
        let ready = ready.fold(Set::default(), Set::with);
        self.look(State { done: Set::default(), ready, live: self.live }, limit)
    }

    /// Goes on from a state, depth first.
    fn look(&mut self, state: State, limit: u64) -> Outcome {
        let begin = self.trail.len();
        let mut trail = std::mem::take(&mut self.trail);
        let state = self.settle(state, limit, Some(&mut trail));
        self.trail = trail;
        if self.trail.len() == self.jobs.len() {
            return Outcome::Found;
        }
        if self.failed.contains(&state.done) {
            self.trail.truncate(begin);
            return Outcome::Nothing;
        }
        let mut next = vec![];
        for at in state.ready.iter() {
            if let Some((after, _)) = self.step(state, at, limit) {
                // What follows of itself decides how good this is.
                next.push((self.settle(after, limit, None).live, at, after));
            }
        }
        next.sort_by_key(|(live, at, _)| (*live, *at));
        for (_, at, after) in next {
            if self.effort == 0 {
                return Outcome::Spent;
            }
            self.trail.push(at);
            match self.look(after, limit) {
                Outcome::Nothing => drop(self.trail.pop()),
                other => return other,
            }
        }
        self.failed.insert(state.done);
        self.trail.truncate(begin);
        Outcome::Nothing
    }

    /// Takes all jobs that leave no more bytes in use than before: no order is worse for it.
    fn settle(
        &mut self,
        mut state: State,
        limit: u64,
        mut trail: Option<&mut Vec<usize>>,
    ) -> State {
        loop {
            let found = state.ready.iter().find_map(|at| {
                let (after, _) = self.step(state, at, limit)?;
                (after.live <= state.live).then_some((at, after))
            });
            self.effort = self.effort.saturating_sub(1);
            let Some((at, after)) = found else { return state };
            if let Some(trail) = &mut trail {
                trail.push(at);
            }
            state = after;
        }
    }

    /// The state after a job, and the bytes in use while it runs; none if that is more than the limit.
    fn step(&self, state: State, at: usize, limit: u64) -> Option<(State, u64)> {
        let job = &self.jobs[at];
        let mut live = state.live;
        for buffer in job.buffers.iter().map(|number| &self.buffers[*number]) {
            if !buffer.begun && !buffer.users.meets(state.done) {
                live += buffer.size;
            }
        }
        let most = live + job.scratch;
        if most > limit {
            return None;
        }
        let done = state.done.with(at);
        for buffer in job.buffers.iter().map(|number| &self.buffers[*number]) {
            if !buffer.kept && buffer.users.is_in(done) {
                live -= buffer.size;
            }
        }
        let mut ready = state.ready.without(at);
        for follower in &job.followers {
            if self.jobs[*follower].before.is_in(done) {
                ready = ready.with(*follower);
            }
        }
        Some((State { done, ready, live }, most))
    }

    /// The peak of the order on the trail.
    fn peak(&self) -> u64 {
        let mut state = State { done: Set::default(), ready: Set::default(), live: self.live };
        let mut peak = 0;
        for at in &self.trail {
            if let Some((after, most)) = self.step(state, *at, u64::MAX) {
                state = after;
                peak = peak.max(most);
            }
        }
        peak
    }
}
