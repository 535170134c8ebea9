//! Taking the time of runs, and saying how far it can be trusted.

use crate::{Error, Result, Tensor, runtime::Executable, tensor::AlignedBuffer};
use std::time::{Duration, Instant};

/// Settings of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct ProfileOptions {
    /// Samples, of which the median counts.
    pub samples: usize,
    /// Least time of a sample; work that takes less is run several times.
    pub sample_time: Duration,
    /// Time after which no further samples of the same work are taken.
    pub limit: Duration,
    /// Seed of the inputs.
    pub seed: u64,
    /// For each call that is computed tile by tile, measure so many tiles, those of least declared cost;
    /// 0 for none.
    pub tiles: usize,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        let (sample_time, limit) = (Duration::from_micros(200), Duration::from_secs(2));
        Self { samples: 11, sample_time, limit, seed: 1, tiles: 0 }
    }
}

/// The middle half of samples may be so wide, relative to the median. Beyond it the median is of
/// what else the machine did.
const STEADY: f64 = 0.5;

/// Nanoseconds that times may vary by, however short they are.
const GRAIN: f64 = 2000.0;

/// Time of a run in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// The median.
    pub usual: f64,
    /// The least.
    pub least: f64,
    /// Lower and upper quartile.
    pub middle: (f64, f64),
    /// Samples that count.
    pub samples: usize,
}

impl Time {
    /// Statistics of samples in ascending order; none if there are none.
    fn of(samples: &[f64]) -> Option<Self> {
        let count = samples.len();
        let at = |part: usize| samples.get(count * part / 4).or(samples.last()).copied();
        Some(Self { usual: at(2)?, least: at(0)?, middle: (at(1)?, at(3)?), samples: count })
    }

    /// Interquartile range.
    pub fn spread(&self) -> f64 {
        self.middle.1 - self.middle.0
    }

    /// True for an interquartile range as narrow as that of one piece of work.
    fn is_steady(&self) -> bool {
        let middle = (self.middle.0 + self.middle.1) / 2.0;
        self.spread() <= (STEADY * middle).max(GRAIN)
    }

    /// Fails if it is noise.
    pub fn check(&self) -> Result<()> {
        if self.is_steady() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "its times are noise: half of {} samples lie between {:.1} and {:.1} us, the others \
             outside; other programs, or threads of a library, take the processor: end them, or ask \
             for more time with --limit, --samples and --sample-time",
            self.samples,
            self.middle.0 / 1e3,
            self.middle.1 / 1e3
        )))
    }
}

/// The time of a run. Samples during which the system gave the processor to somebody else do not
/// count, as far as there are others.
pub fn sample(executable: &Executable, inputs: &[Tensor], how: &ProfileOptions) -> Result<Time> {
    let ports = &executable.signature().outputs;
    let mut outputs = ports
        .iter()
        .map(|port| Ok(AlignedBuffer::zeroed(port.bytes()?)?))
        .collect::<Result<Vec<_>>>()?;
    // The first run is no measure: it touches all memory for the first time.
    executable.run_into(inputs, &mut outputs)?;
    let start = Instant::now();
    executable.run_into(inputs, &mut outputs)?;
    let once = start.elapsed().as_nanos().max(1);
    let batch = (how.sample_time.as_nanos() / once).clamp(1, 100_000) as u32;
    let (mut kept, mut disturbed): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
    let start = Instant::now();
    loop {
        let switches = preemptions();
        let before = Instant::now();
        for _ in 0..batch {
            executable.run_into(inputs, &mut outputs)?;
        }
        let sample = before.elapsed().as_nanos() as f64 / f64::from(batch);
        let list = if switches == preemptions() { &mut kept } else { &mut disturbed };
        let place = list.partition_point(|other| *other < sample);
        list.insert(place, sample);
        // Samples that lie far apart are of a busy machine: more of them show what is usual.
        let steady = Time::of(&kept).is_some_and(|time| time.is_steady());
        let is_enough = kept.len() >= how.samples && (steady || kept.len() >= 4 * how.samples);
        if is_enough || start.elapsed() >= how.limit {
            break;
        }
    }
    // All are disturbed where a run takes longer than the system lets anybody run.
    let samples = if kept.len() >= how.samples.min(3) { &kept } else { &disturbed };
    let found = Time::of(samples).or(Time::of(&kept));
    found.ok_or_else(|| Error::invalid("at least one sample has to be taken"))
}

/// Count of this thread's involuntary context switches; 0 where the system does not say.
fn preemptions() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_far_apart_are_noise() {
        let steady = Time::of(&[1e5, 1.1e5, 1.2e5, 1.2e5, 9e6]).expect("samples");
        assert_eq!((steady.usual, steady.least, steady.samples), (1.2e5, 1e5, 5));
        steady.check().expect("one sample of five is far off");
        let noise = Time::of(&[1e5, 2e5, 9e6, 9.5e6, 1e7]).expect("samples");
        let error = noise.check().expect_err("is noise").to_string();
        assert!(error.contains("5 samples lie between 200.0 and 9500.0 us"), "{error}");
        assert_eq!(Time::of(&[]), None);
    }

    #[test]
    fn times_near_the_resolution_of_the_clock_are_none() {
        Time::of(&[100.0, 200.0, 900.0, 1500.0]).expect("samples").check().expect("short");
    }
}
