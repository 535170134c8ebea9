//! Features of CPUs without LLVM: what this machine has, by asking it, and what code for a machine may use,
//! by tables.
//!
//! `x86_64.txt` and `aarch64.txt` are made of LLVM's tables. A row is `cpu NAME FEATURE...`, what a CPU has,
//! or `feature NAME FEATURE...`, what goes with a feature. What follows from other features of a row is left
//! out of it. The tables have the features that [`here`] answers for, and those that imply or follow from
//! one of them. A test of `phaseline` (`cargo test --lib machines::`) compares them with LLVM, and writes what
//! differs.

mod here;

pub use here::{HERE, INERT, here};

use super::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// The table of x86-64.
pub const X86_64: &str = include_str!("x86_64.txt");
/// The table of AArch64.
pub const AARCH64: &str = include_str!("aarch64.txt");

/// CPUs and features of an architecture.
struct Table {
    /// The features of CPUs, but for those that follow.
    cpus: BTreeMap<&'static str, Vec<&'static str>>,
    /// Features that go with others.
    implied: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let (mut cpus, mut implied) = (BTreeMap::new(), BTreeMap::new());
        for line in text.lines() {
            let mut words = line.split(' ');
            let rows = match words.next() {
                Some("cpu") => &mut cpus,
                Some("feature") => &mut implied,
                _ => continue,
            };
            if let Some(name) = words.next() {
                rows.insert(name, words.collect());
            }
        }
        Self { cpus, implied }
    }

    /// Adds a feature and all that go with it.
    fn add(&self, feature: &str, set: &mut BTreeSet<String>) {
        if !set.insert(feature.to_owned()) {
            return;
        }
        for other in self.implied.get(feature).into_iter().flatten() {
            self.add(other, set);
        }
    }

    fn closure(&self, feature: &str) -> BTreeSet<String> {
        let mut set = BTreeSet::new();
        self.add(feature, &mut set);
        set
    }
}

/// The features that code for a machine may use, as LLVM reads CPU and features. Of features outside of the
/// tables nothing is said. Another architecture than x86-64 and AArch64 has none.
pub fn used(machine: &Machine) -> BTreeSet<String> {
    let mut set = BTreeSet::new();
    let table = match machine.architecture() {
        "x86_64" => Table::parse(X86_64),
        "aarch64" | "arm64" => Table::parse(AARCH64),
        _ => return set,
    };
    // LLVM takes a CPU that it does not know for this one.
    let row = table.cpus.get(machine.cpu.as_str()).or_else(|| table.cpus.get("generic"));
    for feature in row.into_iter().flatten() {
        table.add(feature, &mut set);
    }
    for feature in machine.features.split(',') {
        if let Some(name) = feature.strip_prefix('+') {
            // Features that go with it may have been taken away since it was added.
            set.append(&mut table.closure(name));
        } else if let Some(name) = feature.strip_prefix('-') {
            set.retain(|other| !table.closure(other).contains(name));
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
        assert!(used(&Machine::default()).is_empty());
    }

    #[test]
    fn a_name_is_asked_of_this_machine_once() {
        let names: Vec<_> = here().into_iter().map(|(name, _)| name).collect();
        let set: BTreeSet<_> = names.iter().copied().collect();
        assert_eq!(names.len(), set.len());
        assert!(INERT.iter().all(|name| !set.contains(name)));
    }
}
