//! Features of CPUs without LLVM: those of this machine, by asking it, and those that code for a
//! machine may use, by tables.
//!
//! `x86_64.txt` and `aarch64.txt` are made of LLVM's tables. A row is `cpu NAME FEATURE...`, the
//! features of a CPU, or `feature NAME FEATURE...`, those that a feature implies. A row leaves out
//! features that follow from others of it. The tables have the features that [`here`] answers for,
//! and those that imply or follow from one of them. A test of `phaseline`
//! (`cargo test --lib machines::`) compares them with LLVM, and writes the differences.

mod here;

pub use here::{HERE, INERT, here};

use super::Machine;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

/// The table of x86-64.
pub const X86_64: &str = include_str!("x86_64.txt");
/// The table of AArch64.
pub const AARCH64: &str = include_str!("aarch64.txt");

/// A set of features that has all that goes with one of them.
type Features = BTreeSet<&'static str>;

/// CPUs and features of an architecture.
#[derive(Default)]
struct Table {
    /// The features of each CPU.
    cpus: BTreeMap<&'static str, Features>,
    /// Each feature with those that go with it.
    features: BTreeMap<&'static str, Features>,
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let mut rows: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split(' ');
            if let (Some(kind), Some(name)) = (words.next(), words.next()) {
                rows.entry(kind).or_default().insert(name, words.collect());
            }
        }
        let cpus = rows.remove("cpu").unwrap_or_default();
        let implied = rows.remove("feature").unwrap_or_default();
        let mut table = Self::default();
        // A feature may be named only as one that goes with others.
        for name in implied.keys().chain(implied.values().flatten()).chain(cpus.values().flatten())
        {
            table.features.entry(name).or_insert_with(|| {
                let mut set = Features::new();
                close(name, &implied, &mut set);
                set
            });
        }
        for (name, row) in cpus {
            let sets = row.iter().filter_map(|feature| table.features.get(feature));
            table.cpus.insert(name, sets.flatten().copied().collect());
        }
        table
    }

    /// The table of an architecture, if there is one.
    fn of(architecture: &str) -> Option<&'static Self> {
        static TABLES: [OnceLock<Table>; 2] = [const { OnceLock::new() }; 2];
        let [x86_64, aarch64] = &TABLES;
        match architecture {
            "x86_64" => Some(x86_64.get_or_init(|| Self::parse(X86_64))),
            "aarch64" | "arm64" => Some(aarch64.get_or_init(|| Self::parse(AARCH64))),
            _ => None,
        }
    }
}

/// Adds a feature and all that go with it.
fn close(
    feature: &'static str,
    implied: &BTreeMap<&'static str, Vec<&'static str>>,
    set: &mut Features,
) {
    if set.insert(feature) {
        let others = implied.get(feature).into_iter().flatten();
        others.for_each(|other| close(other, implied, set));
    }
}

/// The features that code for a machine may use, as LLVM reads CPU and features. Of features outside of the
/// tables nothing is said. Another architecture than x86-64 and AArch64 has none.
pub fn used(machine: &Machine) -> BTreeSet<&'static str> {
    let Some(table) = Table::of(machine.architecture()) else { return Features::new() };
    // LLVM takes a CPU that it does not know for this one.
    let row = table.cpus.get(machine.cpu.as_str()).or_else(|| table.cpus.get("generic"));
    let mut set = row.cloned().unwrap_or_default();
    for feature in machine.features.split(',') {
        if let Some(name) = feature.strip_prefix('+') {
            set.extend(table.features.get(name).into_iter().flatten());
        } else if let Some(name) = feature.strip_prefix('-')
            // Nothing that needs a feature is there without it.
            && set.contains(name)
        {
            let needs = |other: &str| table.features.get(other).is_some_and(|of| of.contains(name));
            set.retain(|other| !needs(other));
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cpu: &str, features: &str) -> Machine {
        let text = |text: &str| text.to_owned();
        Machine { triple: text("x86_64-pc-linux-gnu"), cpu: text(cpu), features: text(features) }
    }

    #[test]
    fn features_are_those_of_the_cpu_and_those_that_are_given() {
        let has = |cpu, features, name: &str| used(&machine(cpu, features)).contains(name);
        assert!(has("skylake-avx512", "", "avx512f") && has("skylake-avx512", "", "avx2"));
        assert!(!has("haswell", "", "avx512f") && has("haswell", "+avx512vl", "avx512f"));
        assert!(has("", "", "sse2") && !has("", "", "avx") && !has("no-such-cpu", "", "avx"));
        // Features that need it go with it.
        assert!(!has("haswell", "-avx", "avx2") && has("haswell", "-avx", "bmi2"));
        assert!(has("haswell", "-avx,+avx2", "avx"));
        assert!(
            has("emeraldrapids", "", "amx-tile") && !has("emeraldrapids", "-amx-tile", "amx-tile")
        );
        assert!(used(&Machine::default()).is_empty());
    }

    #[test]
    fn a_name_is_asked_of_this_machine_once() {
        let names: Vec<_> = here().iter().map(|(name, _)| *name).collect();
        let set: BTreeSet<_> = names.iter().copied().collect();
        assert_eq!(names.len(), set.len());
        assert!(INERT.iter().all(|name| !set.contains(name)));
    }
}
