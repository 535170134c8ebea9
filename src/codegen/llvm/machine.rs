//! The machine that host code is for.

use crate::{
    Error, Result,
    ir::{self, Op},
};
use inkwell::{
    OptimizationLevel,
    targets::{
        CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions,
        TargetTriple,
    },
};
use std::sync::Once;

/// Module attributes that hold a [`Machine`].
const TRIPLE: &str = "llvm.target_triple";
const LAYOUT: &str = "llvm.data_layout";
const CPU: &str = "phl.cpu";
const FEATURES: &str = "phl.features";

/// A processor and the system on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// LLVM target triple, normalised.
    pub triple: String,
    /// CPU name.
    pub cpu: String,
    /// CPU features, comma-separated, each with `+` or `-`.
    pub features: String,
}

impl Machine {
    /// The machine for the options of the host target; empty or `native` mean this machine.
    pub fn select(triple: &str, cpu: &str, features: &str) -> Result<Self> {
        let here = TargetMachine::get_default_triple().as_str().to_string_lossy().into_owned();
        let triple = if triple.is_empty() {
            here.clone()
        } else {
            let given = TargetTriple::create(&triple.replace('\0', ""));
            TargetMachine::normalize_triple(&given).as_str().to_string_lossy().into_owned()
        };
        let mut machine = Self { triple, cpu: cpu.to_owned(), features: features.to_owned() };
        if matches!(cpu, "native" | "") {
            let native = machine.architecture() == architecture(&here);
            machine.cpu =
                if native { text(&TargetMachine::get_host_cpu_name()) } else { String::new() };
            if native {
                let here = text(&TargetMachine::get_host_cpu_features());
                let separator = if features.is_empty() { "" } else { "," };
                machine.features = format!("{here}{separator}{features}");
            }
        }
        // Finds unknown triples and architectures.
        machine.create()?;
        Ok(machine)
    }

    /// Reads what `set-llvm-target` wrote.
    pub fn of(module: Op<'_>) -> Result<Self> {
        let read = |name| ir::attr_str(module, name);
        let triple = read(TRIPLE).ok_or_else(|| {
            Error::invalid(format!("the module has no {TRIPLE}: run set-llvm-target on it"))
        })?;
        let (cpu, features) = (read(CPU).unwrap_or_default(), read(FEATURES).unwrap_or_default());
        Ok(Self { triple, cpu, features })
    }

    /// The module attributes that say all of this.
    pub fn attributes(&self) -> Result<[(&'static str, String); 4]> {
        let layout = self.create()?.get_target_data().get_data_layout();
        let layout = layout.as_str().to_string_lossy().into_owned();
        Ok([
            (TRIPLE, self.triple.clone()),
            (LAYOUT, layout),
            (CPU, self.cpu.clone()),
            (FEATURES, self.features.clone()),
        ])
    }

    /// LLVM's object for it.
    pub fn create(&self) -> Result<TargetMachine> {
        initialize();
        let triple = TargetTriple::create(&self.triple);
        let target = Target::from_triple(&triple).map_err(|_| {
            Error::unsupported(format!(
                "no code can be generated for triple '{}': this build has the x86 and AArch64 \
                 backends of LLVM",
                self.triple
            ))
        })?;
        let options = TargetMachineOptions::new()
            .set_cpu(&self.cpu)
            .set_features(&self.features)
            .set_level(OptimizationLevel::Aggressive)
            .set_reloc_mode(RelocMode::PIC)
            .set_code_model(CodeModel::Default);
        let machine = target.create_target_machine_from_options(&triple, options);
        let machine = machine.ok_or_else(|| {
            Error::invalid(format!("LLVM cannot generate code for triple '{}'", self.triple))
        })?;
        let bits = machine.get_target_data().get_pointer_byte_size(None) * 8;
        if bits != 64 {
            return Err(Error::unsupported(format!(
                "triple '{}' has {bits}-bit addresses; host code needs 64",
                self.triple
            )));
        }
        Ok(machine)
    }

    /// The first part of the triple.
    pub fn architecture(&self) -> &str {
        architecture(&self.triple)
    }

    /// Whether code for it runs in this process, leaving CPU features aside.
    pub fn is_here(&self) -> bool {
        let here = TargetMachine::get_default_triple();
        self.architecture() == architecture(&here.as_str().to_string_lossy())
    }
}

fn architecture(triple: &str) -> &str {
    triple.split('-').next().unwrap_or_default()
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
