//! The order of a row of jobs, such that few bytes are in use at once.
//!
//! A section ends where all jobs so far come before all others in every order. Sections are put in
//! order one by one, long ones window by window. Within a window a search goes job by job for an
//! order under a limit of bytes, which is lowered until there is none. A job that leaves no more
//! bytes in use than before, and stays under the limit, is taken at once: nothing is lost by that.
//! The effort is bounded, so that time grows with the length of the row only.

mod search;

use search::Search;

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

/// The most jobs that are put in order together.
const WINDOW: usize = 256;
/// Budget of the searches of one row, in jobs that are looked at.
const EFFORT: usize = 60_000;
/// Most sweeps of windows over long sections, each shifted by half a window against the last.
const SWEEPS: usize = 4;

/// The most bytes in use at once when jobs run in an order.
#[cfg(test)]
fn peak(jobs: &[Job], sizes: &[u64], order: &[usize]) -> u64 {
    Row::new(jobs, sizes).levels(order).iter().map(|level| level.most).max().unwrap_or(0)
}

/// An order with a lower peak than that of the numbers; none if no such order was found.
pub fn improve(jobs: &[Job], sizes: &[u64]) -> Option<Vec<usize>> {
    let row = Row::new(jobs, sizes);
    let given: Vec<usize> = (0..jobs.len()).collect();
    let most = |order: &[usize]| row.levels(order).iter().map(|level| level.most).max();
    let mut order = given.clone();
    let mut effort = EFFORT;
    for sweep in 0..SWEEPS {
        let windows = row.windows(&order, sweep % 2 * (WINDOW / 2));
        row.sweep(&mut order, windows, &mut effort);
        if row.longest_section(&order) <= WINDOW {
            break;
        }
    }
    (most(&order) < most(&given)).then_some(order)
}

/// Bytes in use around a job.
struct Level {
    /// Before it.
    before: u64,
    /// While it runs.
    most: u64,
}

/// Jobs, with the users of each buffer and the followers of each job.
struct Row<'a> {
    jobs: &'a [Job],
    sizes: &'a [u64],
    uses: Vec<Vec<usize>>,
    followers: Vec<Vec<usize>>,
}

/// A part of an order.
#[derive(Clone, Copy)]
struct Window {
    begin: usize,
    end: usize,
}

impl<'a> Row<'a> {
    fn new(jobs: &'a [Job], sizes: &'a [u64]) -> Self {
        let mut uses = vec![vec![]; sizes.len()];
        let mut followers = vec![vec![]; jobs.len()];
        for (at, job) in jobs.iter().enumerate() {
            job.buffers.iter().for_each(|buffer| uses[*buffer].push(at));
            job.after.iter().for_each(|before| followers[*before].push(at));
        }
        Self { jobs, sizes, uses, followers }
    }

    fn levels(&self, order: &[usize]) -> Vec<Level> {
        let mut left: Vec<usize> = self.uses.iter().map(Vec::len).collect();
        let mut live = 0;
        let mut step = |at: &usize| {
            let job = &self.jobs[*at];
            let before = live;
            for buffer in &job.buffers {
                if left[*buffer] == self.uses[*buffer].len() {
                    live += self.sizes[*buffer];
                }
            }
            let most = live + job.scratch;
            for buffer in &job.buffers {
                left[*buffer] -= 1;
                if left[*buffer] == 0 {
                    live -= self.sizes[*buffer];
                }
            }
            Level { before, most }
        };
        order.iter().map(&mut step).collect()
    }

    /// Puts windows in order, those with the highest peak first, until one of them cannot be mended.
    fn sweep(&self, order: &mut [usize], windows: Vec<Window>, effort: &mut usize) {
        let levels = self.levels(order);
        let most = |window: &Window| {
            levels[window.begin..window.end].iter().map(|level| level.most).max().unwrap_or(0)
        };
        let mut windows: Vec<_> = windows.into_iter().map(|w| (most(&w), w)).collect();
        windows.sort_by_key(|(most, window)| (std::cmp::Reverse(*most), window.begin));
        let places = places(order);
        // No order needs less than what one job uses.
        let own = |job: &Job| job.scratch + job.buffers.iter().map(|b| self.sizes[*b]).sum::<u64>();
        let mut floor = self.jobs.iter().map(own).max().unwrap_or(0);
        for (most, Window { begin, end }) in windows {
            if most <= floor {
                break;
            }
            let ids = order[begin..end].to_vec();
            let mut search = Search::new(self, &ids, (begin, &places), levels[begin].before);
            let (found, new) = search.run(most, floor, effort);
            floor = floor.max(found);
            if let Some(new) = new {
                order[begin..end].iter_mut().zip(new).for_each(|(at, local)| *at = ids[local]);
            }
        }
    }

    /// The parts of an order that no job leaves in any order, those that are long cut into windows.
    fn windows(&self, order: &[usize], shift: usize) -> Vec<Window> {
        let mut found = vec![];
        for Window { mut begin, end } in self.sections(order) {
            if end - begin > WINDOW && shift > 0 {
                found.push(Window { begin, end: begin + shift });
                begin += shift;
            }
            while begin < end {
                let next = end.min(begin + WINDOW);
                found.push(Window { begin, end: next });
                begin = next;
            }
        }
        found
    }

    fn longest_section(&self, order: &[usize]) -> usize {
        self.sections(order).iter().map(|window| window.end - window.begin).max().unwrap_or(0)
    }

    /// A job that all before it lead to, and that leads to all behind it, begins a section.
    fn sections(&self, order: &[usize]) -> Vec<Window> {
        let places = places(order);
        // The last job before each one that leads to all behind: the least of the nearest ones.
        let nearest = |at: &usize| self.jobs[*at].after.iter().map(|before| places[*before]).max();
        let mut behind = vec![usize::MAX; order.len() + 1];
        for place in (0..order.len()).rev() {
            // What needs nothing may come first.
            let own = nearest(&order[place]).map_or(0, |place| place + 1);
            behind[place] = own.min(behind[place + 1]);
        }
        let (mut found, mut begin, mut reach) = (vec![], 0, 0);
        for place in 0..order.len() {
            let leads_on = behind[place + 1] > place;
            if reach <= place && leads_on && place > begin {
                found.push(Window { begin, end: place });
                begin = place;
            }
            let next = self.followers[order[place]].iter().map(|after| places[*after]).min();
            reach = reach.max(next.unwrap_or(usize::MAX));
        }
        if begin < order.len() {
            found.push(Window { begin, end: order.len() });
        }
        found
    }
}

fn places(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, at)| places[*at] = place);
    places
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
    fn rows_fall_into_sections() {
        // A split, two branches of two jobs, a join, and a chain.
        let after: [&[usize]; 7] = [&[], &[0], &[1], &[0], &[3], &[2, 4], &[5]];
        let jobs: Vec<Job> = after.iter().map(|after| job(after, &[])).collect();
        let order: Vec<usize> = (0..jobs.len()).collect();
        let sections = Row::new(&jobs, &[]).sections(&order);
        let found: Vec<_> = sections.iter().map(|window| (window.begin, window.end)).collect();
        assert_eq!(found, [(0, 5), (5, 6), (6, 7)]);
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

    /// A row of jobs that use results of earlier ones, `reach` back at most.
    fn long(seed: u64, length: usize, reach: usize) -> (Vec<Job>, Vec<u64>) {
        let mut seed = seed;
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let (mut jobs, mut sizes) = (vec![], vec![]);
        for at in 0..length {
            let mut after: Vec<usize> = (0..random(3))
                .map(|_| at.saturating_sub(1 + random(reach as u64) as usize))
                .filter(|before| *before < at)
                .collect();
            after.sort_unstable();
            after.dedup();
            let mut buffers = after.clone();
            buffers.push(at);
            sizes.push(1 + random(1000));
            jobs.push(Job { after, buffers, scratch: random(100) });
        }
        (jobs, sizes)
    }

    #[test]
    fn long_rows_keep_what_comes_before_what() {
        let mut better = 0;
        for seed in 0..40 {
            let (jobs, sizes) = long(seed, 50 + seed as usize * 20, 3 + seed as usize * 2);
            let given: Vec<usize> = (0..jobs.len()).collect();
            let Some(order) = improve(&jobs, &sizes) else { continue };
            better += 1;
            let places = places(&order);
            let mut all = order.clone();
            all.sort_unstable();
            assert_eq!(all, given);
            for (at, job) in jobs.iter().enumerate() {
                assert!(job.after.iter().all(|before| places[*before] < places[at]));
            }
            assert!(peak(&jobs, &sizes, &order) < peak(&jobs, &sizes, &given));
            assert_eq!(improve(&jobs, &sizes), Some(order), "the same every time");
        }
        assert!(better > 20, "{better} of 40 orders could be improved");
    }

    #[test]
    fn ten_thousand_jobs_take_moments() {
        for reach in [2, 50, 10_000] {
            let (jobs, sizes) = long(1, 10_000, reach);
            let begin = std::time::Instant::now();
            improve(&jobs, &sizes);
            assert!(begin.elapsed().as_secs() < 5, "{reach}: {:?}", begin.elapsed());
        }
    }
}
