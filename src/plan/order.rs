//! The order of a row of jobs, such that few bytes are in use at once.
//!
//! A search over what has been done so far: of all ways to come to the same set of jobs only the one
//! with the lowest peak counts. As long as all sets are kept the result is the best there is; of
//! larger programs the most promising ones are kept at each step.

use std::collections::HashMap;

/// A job.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Jobs that have to be over before, each of a lower number.
    pub after: Vec<usize>,
    /// The buffers that it uses, each once.
    pub buffers: Vec<usize>,
    /// Bytes that are in use only while it runs.
    pub scratch: u64,
}

/// So many sets are looked at, at all steps together.
const EFFORT: usize = 30_000;
/// The fewest and the most sets that are kept at each step.
const KEPT: (usize, usize) = (4, 4096);

/// Longer rows stay as they are.
const MOST: usize = 1000;

/// The jobs done so far, and what that took.
#[derive(Clone)]
struct State {
    done: Vec<u64>,
    /// The jobs that may be next, in order.
    ready: Vec<usize>,
    peak: u64,
    live: u64,
    /// Place in the list of steps.
    step: Option<usize>,
}

/// The most bytes in use at once when jobs run in an order.
pub fn peak(jobs: &[Job], sizes: &[u64], order: &[usize]) -> u64 {
    let uses = uses(jobs, sizes.len());
    let mut left: Vec<usize> = uses.iter().map(Vec::len).collect();
    let (mut live, mut peak) = (0, 0);
    for at in order {
        let job = &jobs[*at];
        live += begun(job, &uses, &left, sizes);
        peak = peak.max(live + job.scratch);
        for buffer in &job.buffers {
            left[*buffer] -= 1;
            if left[*buffer] == 0 {
                live -= sizes[*buffer];
            }
        }
    }
    peak
}

/// An order with a lower peak than that of the numbers; none if no such order was found.
pub fn improve(jobs: &[Job], sizes: &[u64]) -> Option<Vec<usize>> {
    let given: Vec<usize> = (0..jobs.len()).collect();
    let bound = peak(jobs, sizes, &given);
    let least = least(jobs, sizes);
    if bound <= least || jobs.len() > MOST {
        return None;
    }
    let order = Search::new(jobs, sizes, bound).run()?;
    (peak(jobs, sizes, &order) < bound).then_some(order)
}

/// No order needs less: what one job uses itself.
fn least(jobs: &[Job], sizes: &[u64]) -> u64 {
    let own = |job: &Job| job.scratch + job.buffers.iter().map(|b| sizes[*b]).sum::<u64>();
    jobs.iter().map(own).max().unwrap_or(0)
}

fn uses(jobs: &[Job], buffers: usize) -> Vec<Vec<usize>> {
    let mut uses = vec![vec![]; buffers];
    for (at, job) in jobs.iter().enumerate() {
        for buffer in &job.buffers {
            uses[*buffer].push(at);
        }
    }
    uses
}

/// The bytes of the buffers that a job is the first to use.
fn begun(job: &Job, uses: &[Vec<usize>], left: &[usize], sizes: &[u64]) -> u64 {
    let first = |buffer: &&usize| left[**buffer] == uses[**buffer].len();
    job.buffers.iter().filter(first).map(|buffer| sizes[*buffer]).sum()
}

struct Search<'a> {
    jobs: &'a [Job],
    sizes: &'a [u64],
    uses: Vec<Vec<usize>>,
    followers: Vec<Vec<usize>>,
    /// A peak that is of no use.
    bound: u64,
    /// Each step taken: the one before it, and the job.
    steps: Vec<(Option<usize>, usize)>,
}

impl<'a> Search<'a> {
    fn new(jobs: &'a [Job], sizes: &'a [u64], bound: u64) -> Self {
        let mut followers = vec![vec![]; jobs.len()];
        for (at, job) in jobs.iter().enumerate() {
            for before in &job.after {
                followers[*before].push(at);
            }
        }
        let uses = uses(jobs, sizes.len());
        Self { jobs, sizes, uses, followers, bound, steps: vec![] }
    }

    fn run(mut self) -> Option<Vec<usize>> {
        let words = self.jobs.len().div_ceil(64);
        let kept = (EFFORT / self.jobs.len().max(1)).clamp(KEPT.0, KEPT.1);
        let ready = (0..self.jobs.len()).filter(|at| self.jobs[*at].after.is_empty()).collect();
        let mut states = vec![State { done: vec![0; words], ready, peak: 0, live: 0, step: None }];
        for _ in 0..self.jobs.len() {
            let mut next: HashMap<Vec<u64>, usize> = HashMap::new();
            let mut found: Vec<State> = vec![];
            let looked = self.steps.len();
            for state in &states {
                // The best come first; the rest is left when enough was looked at.
                if self.steps.len() - looked > kept {
                    break;
                }
                for job in &state.ready {
                    let Some(new) = self.after(state, *job) else { continue };
                    match next.get(&new.done) {
                        Some(old) if found[*old].peak <= new.peak => {}
                        Some(old) => found[*old] = new,
                        None => {
                            next.insert(new.done.clone(), found.len());
                            found.push(new);
                        }
                    }
                }
            }
            // Stable: of equals the one found first, which keeps to the given order.
            found.sort_by_key(|state| (state.peak, state.live));
            found.truncate(kept);
            states = found;
        }
        let mut order = vec![];
        let mut at = states.first()?.step;
        while let Some((before, job)) = at.map(|at| self.steps[at]) {
            order.push(job);
            at = before;
        }
        order.reverse();
        Some(order)
    }

    /// The state when a job has run too; none if that takes too much.
    fn after(&mut self, state: &State, job: usize) -> Option<State> {
        let it = &self.jobs[job];
        let (mut begun, mut ended) = (0, 0);
        for buffer in &it.buffers {
            let done = self.uses[*buffer].iter().filter(|at| is_done(state, **at)).count();
            if done == 0 {
                begun += self.sizes[*buffer];
            }
            if done + 1 == self.uses[*buffer].len() {
                ended += self.sizes[*buffer];
            }
        }
        let peak = state.peak.max(state.live + begun + it.scratch);
        if peak >= self.bound {
            return None;
        }
        let mut done = state.done.clone();
        done[job / 64] |= 1 << (job % 64);
        self.steps.push((state.step, job));
        let mut new = State {
            done,
            ready: state.ready.iter().copied().filter(|at| *at != job).collect(),
            peak,
            live: state.live + begun - ended,
            step: Some(self.steps.len() - 1),
        };
        for follower in &self.followers[job] {
            if self.jobs[*follower].after.iter().all(|before| is_done(&new, *before)) {
                let place = new.ready.partition_point(|at| at < follower);
                new.ready.insert(place, *follower);
            }
        }
        Some(new)
    }
}

fn is_done(state: &State, job: usize) -> bool {
    state.done[job / 64] >> (job % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(after: &[usize], buffers: &[usize]) -> Job {
        Job { after: after.to_vec(), buffers: buffers.to_vec(), scratch: 0 }
    }

    /// The lowest peak of all orders.
    fn best(jobs: &[Job], sizes: &[u64], order: &mut Vec<usize>) -> u64 {
        if order.len() == jobs.len() {
            return peak(jobs, sizes, order);
        }
        let mut least = u64::MAX;
        for at in 0..jobs.len() {
            if !order.contains(&at) && jobs[at].after.iter().all(|job| order.contains(job)) {
                order.push(at);
                least = least.min(best(jobs, sizes, order));
                order.pop();
            }
        }
        least
    }

    #[test]
    fn what_is_used_late_is_made_late() {
        // A large constant is filled before a chain that does not need it.
        let jobs = [job(&[], &[0]), job(&[], &[1]), job(&[1], &[1, 2]), job(&[0, 2], &[0, 2, 3])];
        let sizes = [100, 80, 10, 5];
        assert_eq!(peak(&jobs, &sizes, &[0, 1, 2, 3]), 190);
        let order = improve(&jobs, &sizes).expect("there is a better one");
        assert_eq!((order.clone(), peak(&jobs, &sizes, &order)), (vec![1, 2, 0, 3], 115));
    }

    #[test]
    fn a_good_order_stays() {
        let jobs = [job(&[], &[0]), job(&[0], &[0, 1]), job(&[1], &[1])];
        assert_eq!(improve(&jobs, &[8, 8]), None);
    }

    #[test]
    fn small_programs_get_the_best_order() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut better = 0;
        for _ in 0..200 {
            let mut jobs: Vec<Job> = vec![];
            let mut sizes = vec![];
            for at in 0..7_usize {
                let after: Vec<usize> = (0..at).filter(|_| random(3) == 0).collect();
                let mut buffers = after.clone();
                buffers.push(at);
                sizes.push(1 + random(20));
                jobs.push(Job { after, buffers, scratch: random(10) });
            }
            let given: Vec<usize> = (0..jobs.len()).collect();
            let least = best(&jobs, &sizes, &mut vec![]);
            let found = improve(&jobs, &sizes);
            better += usize::from(found.is_some());
            assert_eq!(peak(&jobs, &sizes, &found.unwrap_or(given)), least);
        }
        assert!(better > 50, "{better} of 200 orders could be improved");
    }
}
