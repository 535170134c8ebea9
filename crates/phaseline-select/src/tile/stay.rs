//! Decisions on results that calls read of calls before them, for people and programs. The passes
//! that decide write them on the function, and `partition --explain` reads them there.

use super::{
    cascade::{Cascade, Link, Stripes},
    choose::Chooser,
    keep::Call,
    plan::Tensor,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// A decision about results between calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stay {
    /// The calls: who writes, and who reads.
    pub calls: Vec<String>,
    /// The decision.
    #[serde(flatten)]
    pub fate: Fate,
}

/// Decision on results between calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum Fate {
    /// The calls are computed stripe by stripe.
    Stripes {
        /// The loop of the last call that stripes go along.
        along: String,
        /// Number of stripes.
        stripes: i64,
        /// Positions of that loop in the largest one.
        positions: i64,
        /// Rows that stay for the next stripe.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rings: Vec<Kept>,
        /// The saving.
        gain: Gain,
    },
    /// The first call's result stays as a whole for the others.
    Whole {
        /// The saving.
        gain: Gain,
    },
    /// The calls are not computed stripe by stripe.
    NoStripes {
        /// The reason.
        reason: String,
    },
    /// The first call's result does not stay as a whole.
    Moved {
        /// The reason.
        reason: String,
    },
}

/// Rows of a tensor that stay for the next stripe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The tensor, by its name in the call.
    pub tensor: String,
    /// Rows that stay.
    pub rows: i64,
    /// Rows of a stripe.
    pub of: i64,
}

/// Saving of results that stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Bytes of results that stay at a time, by pool.
    pub stay: BTreeMap<String, i64>,
    /// Bytes that calls move less.
    pub moved: f64,
    /// The declared cost of the calls, in the unit of the manifest.
    pub cost: f64,
    /// The declared cost if these results did not stay.
    pub before: f64,
}

impl Gain {
    /// Gain of calls if a result stays as a whole: bytes that stay, and bytes that calls move less.
    pub fn of_whole(before: &[Call], after: &[Call], stay: (&str, i64)) -> Result<Self, String> {
        let sum = |calls: &[Call]| calls.iter().map(moved).sum::<Result<f64, String>>();
        Ok(Self {
            stay: BTreeMap::from([(stay.0.to_owned(), stay.1)]),
            moved: sum(before)? - sum(after)?,
            ..Self::default()
        })
    }
}

impl Cascade {
    /// Decision on the calls of the cascade, which are `chain`.
    pub fn fate(&self, chain: &[Link]) -> Result<Fate, String> {
        let mut gain = Gain { cost: self.cost, before: self.before, ..Gain::default() };
        for link in chain {
            gain.moved += moved(&link.call)?;
        }
        let mut known = 0.0;
        for run in &self.stripes {
            let (moved, held) = moved_by(run)?;
            // With rings, what all stripes read is loaded once for all runs.
            let has_rings = run.parts.iter().any(|part| !part.rings.is_empty());
            gain.moved -= moved + if has_rings { held - known } else { held };
            known = if has_rings { held } else { 0.0 };
            let mut here: BTreeMap<String, i64> = BTreeMap::new();
            for part in run.parts.iter().take(run.parts.len().saturating_sub(1)) {
                if let Some((tensor, pool)) = part.call.home_of_kept(part.call.reads) {
                    *here.entry(pool.name.clone()).or_default() += tensor.bytes_in(pool);
                }
            }
            for (pool, bytes) in here {
                let most = gain.stay.entry(pool).or_default();
                *most = bytes.max(*most);
            }
        }
        let extent = |run: &Stripes| {
            let last = run.parts.last()?;
            last.call.plan.loops.get(self.along).map(|l| l.extent)
        };
        let along = chain.last().and_then(|link| link.call.plan.loops.get(self.along));
        Ok(Fate::Stripes {
            along: along.map(|l| l.name.clone()).unwrap_or_default(),
            stripes: self.stripes.iter().map(|run| run.count).sum(),
            positions: self.stripes.iter().filter_map(extent).max().unwrap_or(0),
            rings: self.kept_rows(),
            gain,
        })
    }

    /// The most rows of each tensor that stay for the next stripe.
    fn kept_rows(&self) -> Vec<Kept> {
        let mut all: Vec<Kept> = vec![];
        for part in self.stripes.iter().flat_map(|run| &run.parts) {
            for ring in part.rings.iter().filter(|ring| ring.kept > 0) {
                let Some(tensor) = part.call.plan.tensors.get(ring.tensor) else { continue };
                let of = tensor.dims.get(ring.dim).map_or(0, |dim| dim.size);
                let kept = Kept { tensor: tensor.name.clone(), rows: ring.kept, of };
                match all.iter_mut().find(|other| other.tensor == kept.tensor) {
                    Some(other) if other.rows < kept.rows => *other = kept,
                    Some(_) => {}
                    None => all.push(kept),
                }
            }
        }
        all
    }
}

/// Bytes that a call moves of its tensors.
fn moved(call: &Call) -> Result<f64, String> {
    let chooser = Chooser::new(&call.plan, call.reads, &[])?;
    let account = chooser.decided().and_then(|choice| chooser.account(&choice));
    Ok(account.map_or(0.0, |account| account.moves.iter().map(|moves| moves.bytes).sum()))
}

/// Bytes that stripes move, and those that are loaded once for them.
fn moved_by(run: &Stripes) -> Result<(f64, f64), String> {
    let (mut bytes, mut once) = (0.0, 0.0);
    for part in &run.parts {
        bytes += moved(&part.call)? * run.count as f64;
        for ring in &part.rings {
            let dims = part.call.plan.tensors.get(ring.tensor).map(|tensor| &tensor.dims);
            let rows = dims.and_then(|dims| dims.get(ring.dim)).map_or(0, |dim| dim.size);
            let loaded = part.row_bytes(ring).saturating_mul(rows - ring.kept);
            bytes += loaded as f64 * run.count as f64;
        }
        let held = part.held.iter().filter_map(|tensor| part.call.plan.tensors.get(*tensor));
        let whole = |tensor: &Tensor| {
            tensor.dims.iter().map(|dim| dim.size).product::<i64>() * tensor.moved_element()
        };
        once += held.map(whole).sum::<i64>() as f64;
    }
    Ok((bytes, once))
}

impl fmt::Display for Stay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writer = self.calls.first().map_or("", String::as_str);
        let readers = listed(self.calls.get(1..).unwrap_or_default());
        match &self.fate {
            Fate::Stripes { along, stripes, positions, rings, gain } => {
                let are = if self.calls.len() == 1 { "is" } else { "are" };
                write!(
                    f,
                    "{} {are} computed in {stripes} stripes of {along}, {positions} at a time",
                    listed(&self.calls)
                )?;
                for Kept { tensor, rows, of } in rings {
                    write!(f, ", with {rows} of {of} rows of '{tensor}' in a ring")?;
                }
                write!(f, ": {gain}")
            }
            Fate::Whole { gain } => {
                write!(f, "the result of '{writer}' stays as a whole for {readers}: {gain}")
            }
            Fate::NoStripes { reason } => {
                let are = if self.calls.len() == 1 { "is" } else { "are" };
                write!(f, "{} {are} not computed in stripes: {reason}", listed(&self.calls))
            }
            Fate::Moved { reason } => {
                write!(f, "the result of '{writer}' does not stay as a whole")?;
                match readers.is_empty() {
                    true => write!(f, ": {reason}"),
                    false => write!(f, " for {readers}: {reason}"),
                }
            }
        }
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (pool, bytes) in &self.stay {
            write!(f, "{bytes} bytes stay in '{pool}', ")?;
        }
        let Self { moved, cost, before, .. } = self;
        let (less, bytes) = if *moved < 0.0 { ("more", -moved) } else { ("less", *moved) };
        write!(
            f,
            "{bytes:.0} bytes {less} are moved; cost {cost:.0}, {before:.0} if nothing stayed"
        )
    }
}

/// Names in quotes, the last one after an `and`, each once.
fn listed(names: &[String]) -> String {
    let mut seen = BTreeSet::new();
    let once: Vec<String> =
        names.iter().filter(|name| seen.insert(*name)).map(|name| format!("'{name}'")).collect();
    match once.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}
