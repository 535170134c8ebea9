//! Machines in LLVM's terms, and in the attributes of the IR.

use super::Machine;
use crate::{
    Error, Result, ffi,
    ir::{
        self, Op,
        names::{CPU, FEATURES},
    },
};
use inkwell::{
    OptimizationLevel,
    targets::{
        CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions,
        TargetTriple,
    },
};
use phaseline_runtime::artifact::{architecture, system, tiles};
use std::{
    collections::BTreeMap,
    sync::{Mutex, Once, PoisonError},
};

/// Module attributes that hold a [`Machine`].
const TRIPLE: &str = "llvm.target_triple";
const LAYOUT: &str = "llvm.data_layout";
/// Features that code for an architecture cannot do without, as LLVM passes addresses and floats.
const NEEDED: &[(&str, &str)] =
    &[("x86_64", "64bit"), ("x86_64", "sse2"), ("aarch64", "fp-armv8"), ("aarch64", "neon")];

/// The machine for the options of the host target; empty or `native` mean this machine.
pub fn select(triple: &str, cpu: &str, features: &str) -> Result<Machine> {
    let here = TargetMachine::get_default_triple().as_str().to_string_lossy().into_owned();
    let triple = if triple.is_empty() {
        here.clone()
    } else {
        let given = TargetTriple::create(&triple.replace('\0', ""));
        TargetMachine::normalize_triple(&given).as_str().to_string_lossy().into_owned()
    };
    let mut machine = Machine { triple, cpu: cpu.to_owned(), features: features.to_owned() };
    if matches!(cpu, "native" | "") {
        let native = machine.architecture() == architecture(&here);
        machine.cpu =
            if native { text(&TargetMachine::get_host_cpu_name()) } else { String::new() };
        if native {
            let here = usable_features();
            let separator = if features.is_empty() { "" } else { "," };
            machine.features = format!("{here}{separator}{features}");
        }
    }
    // Finds unknown triples and architectures.
    create(&Machine { cpu: String::new(), features: String::new(), ..machine.clone() })?;
    if !matches!(cpu, "native" | "") {
        check(&machine, "CPU", cpu, ffi::cpus)?;
    }
    for feature in features.split(',').filter(|feature| !feature.is_empty()) {
        let name = feature.strip_prefix(['+', '-']).ok_or_else(|| {
            Error::invalid(format!(
                "CPU feature '{feature}' has no sign: +{feature} adds it, -{feature} removes it"
            ))
        })?;
        check(&machine, "CPU feature", name, ffi::cpu_features)?;
        if name.ends_with("bit-mode") {
            return Err(Error::invalid(format!(
                "CPU feature '{name}' is decided by the triple; leave it out"
            )));
        }
    }
    for (architecture, feature) in NEEDED {
        if machine.architecture() == *architecture && !has(&machine, feature) {
            return Err(Error::unsupported(format!(
                "CPU '{}' with features '{features}' has no {feature}, which host code for \
                 {architecture} needs",
                machine.cpu
            )));
        }
    }
    Ok(machine)
}

/// The machine of a triple, which LLVM need not have code generation for.
pub fn of_triple(triple: &str) -> Machine {
    let given = TargetTriple::create(&triple.replace('\0', ""));
    let triple = TargetMachine::normalize_triple(&given).as_str().to_string_lossy().into_owned();
    Machine { triple, ..Machine::default() }
}

/// Checks a name against those that LLVM has: it would ignore an unknown one, with messages on
/// standard error.
fn check(machine: &Machine, kind: &str, name: &str, known: fn(&str) -> Vec<String>) -> Result<()> {
    let known = known(&machine.triple);
    if known.iter().any(|other| other == name) {
        return Ok(());
    }
    let near = crate::error::suggestion_only(name, known.iter().map(String::as_str));
    Err(Error::invalid(format!(
        "LLVM knows no {kind} '{name}' of {}{near}",
        machine.architecture()
    )))
}

/// True if the data layout of a module has the highest byte of a word first.
pub fn is_big_endian(module: Op<'_>) -> bool {
    ir::attr_str(module, LAYOUT).is_some_and(|layout| layout.starts_with('E'))
}

/// Reads what `set-llvm-target` wrote.
pub fn of(module: Op<'_>) -> Result<Machine> {
    let read = |name| ir::attr_str(module, name);
    let triple = read(TRIPLE).ok_or_else(|| {
        Error::invalid(format!("the module has no {TRIPLE}: run set-llvm-target on it"))
    })?;
    let (cpu, features) = (read(CPU).unwrap_or_default(), read(FEATURES).unwrap_or_default());
    Ok(Machine { triple, cpu, features })
}

/// The module attributes that say all of this.
pub fn attributes(machine: &Machine) -> Result<[(&'static str, String); 4]> {
    let layout = create(machine)?.get_target_data().get_data_layout();
    let layout = layout.as_str().to_string_lossy().into_owned();
    Ok([
        (TRIPLE, machine.triple.clone()),
        (LAYOUT, layout),
        (CPU, machine.cpu.clone()),
        (FEATURES, machine.features.clone()),
    ])
}

/// LLVM's object for it.
pub fn create(machine: &Machine) -> Result<TargetMachine> {
    create_at(machine, OptimizationLevel::Aggressive)
}

/// The same for code that gets this level of optimization.
pub fn create_at(machine: &Machine, level: OptimizationLevel) -> Result<TargetMachine> {
    let Machine { triple: name, cpu, features } = machine;
    initialize();
    let triple = TargetTriple::create(name);
    let target = Target::from_triple(&triple).map_err(|_| {
        Error::unsupported(format!(
            "no code can be generated for triple '{name}': this build has the x86 and AArch64 \
             backends of LLVM"
        ))
    })?;
    let options = TargetMachineOptions::new()
        .set_cpu(cpu)
        .set_features(features)
        .set_level(level)
        .set_reloc_mode(RelocMode::PIC)
        .set_code_model(CodeModel::Default);
    let machine = target.create_target_machine_from_options(&triple, options);
    let machine = machine
        .ok_or_else(|| Error::invalid(format!("LLVM cannot generate code for triple '{name}'")))?;
    let bits = machine.get_target_data().get_pointer_byte_size(None) * 8;
    if bits != 64 {
        return Err(Error::unsupported(format!(
            "triple '{name}' has {bits}-bit addresses; host code needs 64"
        )));
    }
    Ok(machine)
}

/// The machine of a program with code for one machine and code for `other`, which may be none.
/// If both say which CPU they are for, the features of both are needed. Fails if no machine
/// runs both.
pub fn joined(one: Machine, other: &Machine) -> Result<Machine> {
    if other.triple.is_empty() {
        return Ok(one);
    }
    if one.architecture() != other.architecture() || system(&one.triple) != system(&other.triple) {
        return Err(Error::invalid(format!(
            "the targets of one compile are for different machines, {} and {}: no program has \
             code for both; compile for each by itself",
            other.triple, one.triple
        )));
    }
    // A C compiler says less about its code than LLVM.
    let (mut main, rest) = match (one.cpu.is_empty(), other.cpu.is_empty()) {
        (true, false) => (other.clone(), &one),
        _ => (one.clone(), other),
    };
    if rest.cpu.is_empty() || (&main.cpu, &main.features) == (&rest.cpu, &rest.features) {
        return Ok(main);
    }
    // LLVM lists the features of this machine's architecture, those that are missing as well.
    let here = TargetMachine::get_default_triple();
    if main.architecture() == architecture(&here.as_str().to_string_lossy()) {
        let native = text(&TargetMachine::get_host_cpu_features());
        let known = native.split(',').filter_map(|feature| feature.strip_prefix(['+', '-']));
        let more = known.filter(|feature| has(rest, feature) && !has(&main, feature));
        let more: Vec<String> = more.map(|feature| format!("+{feature}")).collect();
        let all = std::iter::once(main.features.clone()).filter(|list| !list.is_empty());
        main.features = all.chain(more).collect::<Vec<_>>().join(",");
    }
    Ok(main)
}

/// True if code for a machine may use a CPU feature, as LLVM's tables of processors say; false without a backend.
pub fn has(machine: &Machine, feature: &str) -> bool {
    // LLVM makes the whole description of a CPU anew for each question.
    static KNOWN: Mutex<BTreeMap<[String; 4], bool>> = Mutex::new(BTreeMap::new());
    let machine = [&*machine.triple, &*machine.cpu, &*machine.features];
    let key = [machine[0], machine[1], machine[2], feature].map(str::to_owned);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(key).or_insert_with(|| {
        initialize();
        ffi::cpu_has_feature(machine, feature)
    })
}

/// The CPU features of this machine that this process may use.
fn usable_features() -> String {
    let mut features = text(&TargetMachine::get_host_cpu_features());
    let amx = features.split(',').any(|feature| feature.strip_prefix('+') == Some(tiles::FEATURE));
    if amx && !tiles::permitted() {
        features.push_str(",-");
        features.push_str(tiles::FEATURE);
    }
    features
}

fn text(string: &inkwell::support::LLVMString) -> String {
    string.to_string_lossy().into_owned()
}

/// Makes the code generators known to LLVM, once.
pub(crate) fn initialize() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let config = InitializationConfig::default();
        Target::initialize_x86(&config);
        Target::initialize_aarch64(&config);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaseline_runtime::artifact::cpu;
    use std::{
        collections::{BTreeMap, BTreeSet},
        fs,
        path::Path,
    };

    /// Features of an architecture, as LLVM knows them.
    struct Known {
        triple: &'static str,
        /// Features that are asked for at run time, what implies them and what they imply, each with all
        /// that it implies.
        implied: BTreeMap<String, BTreeSet<String>>,
    }

    impl Known {
        fn of(triple: &'static str, asked: &[&str]) -> Self {
            initialize();
            let all = ffi::cpu_features(triple);
            // On top of what a CPU without either has, the one brings the other.
            let implies = |one: &str, other: &str| {
                one == other
                    || ffi::cpu_has_feature([triple, "", &format!("-{other},+{one}")], other)
            };
            let near = |name: &&String| {
                asked.iter().any(|asked| implies(name, asked) || implies(asked, name))
            };
            let names: Vec<&String> = all.iter().filter(near).collect();
            let row = |name: &&String| {
                let implied = names.iter().filter(|other| implies(name, other));
                ((*name).clone(), implied.map(|other| (*other).clone()).collect())
            };
            let implied = names.iter().map(row).collect();
            Self { triple, implied }
        }

        /// The features of a set that do not follow from others of it.
        fn row(&self, kind: &str, name: &str, set: &BTreeSet<String>) -> String {
            let follows = |feature: &String| {
                set.iter().any(|other| other != feature && self.implied[other].contains(feature))
            };
            let rest = set.iter().filter(|feature| !follows(feature));
            let rest: String = rest.map(|feature| format!(" {feature}")).collect();
            format!("{kind} {name}{rest}\n")
        }

        fn table(&self) -> String {
            let mut text = String::new();
            for cpu in ffi::cpus(self.triple) {
                let has =
                    |name: &&String| ffi::cpu_has_feature([self.triple, &cpu, ""], name.as_str());
                let set = self.implied.keys().filter(has).cloned().collect();
                text += &self.row("cpu", &cpu, &set);
            }
            for (name, implied) in &self.implied {
                let others: BTreeSet<_> =
                    implied.iter().filter(|other| *other != name).cloned().collect();
                if !others.is_empty() {
                    text += &self.row("feature", name, &others);
                }
            }
            text
        }
    }

    /// Compares a table with LLVM's. The new table to commit is beside it afterwards.
    fn compare(file: &str, table: &str, known: &Known) {
        let made = known.table();
        if made != table {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tmp").join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
            fs::write(&path, made).expect("writes");
            panic!("{file} is not what LLVM says: put {} in its place", path.display());
        }
    }

    #[test]
    fn tables_of_cpus_are_llvms() {
        let asked: Vec<_> = cpu::here().iter().map(|(name, _)| *name).collect();
        if cfg!(target_arch = "x86_64") {
            let known = Known::of("x86_64-pc-linux-gnu", &asked);
            compare("x86_64.txt", cpu::X86_64, &known);
        }
        let known = Known::of("aarch64-unknown-linux-gnu", &["aes", "sha2"]);
        compare("aarch64.txt", cpu::AARCH64, &known);
    }

    #[test]
    fn this_machine_is_what_llvm_takes_it_for() {
        let here = TargetMachine::get_default_triple();
        assert_eq!(here.as_str().to_string_lossy(), cpu::HERE);
        let features = text(&TargetMachine::get_host_cpu_features());
        let asked: BTreeSet<_> = cpu::here()
            .iter()
            .map(|(name, has)| format!("{}{name}", if *has { '+' } else { '-' }))
            .collect();
        let is_inert = |feature: &str| cpu::INERT.contains(&feature.trim_start_matches(['+', '-']));
        let given: BTreeSet<_> = features
            .split(',')
            .filter(|feature| cfg!(target_arch = "x86_64") && !is_inert(feature))
            .map(str::to_owned)
            .collect();
        let other: Vec<_> = given.symmetric_difference(&asked).collect();
        assert!(given.is_empty() || other.is_empty(), "{other:?}");
    }

    #[test]
    fn features_of_machines_are_what_llvm_says() {
        initialize();
        for (cpu, features) in [
            ("", ""),
            ("znver4", ""),
            ("haswell", "+avx512vl,-fma"),
            ("sapphirerapids", "-avx512f,+avx512bw,-sse4.2,+amx-fp8"),
            ("diamondrapids", "-avx10.2,+egpr"),
            ("no-such-cpu", "+avx10.2,+no-such-feature"),
        ] {
            let triple = "x86_64-pc-linux-gnu".to_owned();
            let machine = Machine { triple, cpu: cpu.to_owned(), features: features.to_owned() };
            let used = cpu::used(&machine);
            for (name, _) in cpu::here() {
                assert_eq!(used.contains(name), has(&machine, name), "{name} of {cpu} {features}");
            }
        }
    }
}
