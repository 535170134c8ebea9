//! Compiler options that add run-time checks to a device's C.

use crate::{
    codegen::c::compile::DeviceBuild,
    process::{self, Folder},
};
use std::process::Command;

/// Accesses out of bounds, and what C leaves undefined. Shifts and sums of integers that wrap, and
/// null pointers with nothing behind them, are common, and numbers show whether they matter. Each by its
/// name: `undefined` is more to Clang than to GCC, and a target's own Clang may compile what GCC links.
const CHECKS: [&str; 1] = [
    "-fsanitize=address,integer-divide-by-zero,unreachable,vla-bound,null,return,bounds,object-size,\
     returns-nonnull-attribute,bool,enum,pointer-overflow,builtin",
];

/// Further options for device code: sums that wrap, lines in reports, and no warnings that only the
/// sanitizers cause.
const WITH_CHECKS: [&str; 10] = [
    "-O1",
    "-g1",
    "-fwrapv",
    "-fno-sanitize-recover=undefined",
    "-fno-omit-frame-pointer",
    "-Wno-unknown-warning-option",
    "-Wno-maybe-uninitialized",
    "-Wno-array-bounds",
    "-Wno-stringop-overflow",
    "-Wno-stringop-overread",
];

/// `ASAN_OPTIONS` of programs with checks. Leaks of drivers are not the target's; the gap between
/// the shadow's parts is left open for drivers that map addresses of their own there, as CUDA's does.
pub const OPTIONS: &str =
    "detect_leaks=0:exitcode=99:allocator_may_return_null=1:protect_shadow_gap=0";

/// Build of devices with run-time checks.
#[derive(Clone, Debug)]
pub struct Sanitizer {
    compiler: String,
    build: DeviceBuild,
    found: bool,
}

impl Sanitizer {
    /// Looks what the compiler has; arguments may follow the program.
    pub fn of(compiler: &str) -> Self {
        let found = works(compiler);
        let flags = if found { CHECKS.iter().chain(&WITH_CHECKS) } else { [].iter().chain(&[]) };
        let flags = flags.map(|flag| (*flag).to_owned()).collect();
        let build = DeviceBuild { flags, ..Default::default() };
        Self { compiler: compiler.to_owned(), build, found }
    }

    /// True if the compiler has sanitizers.
    pub fn is_there(&self) -> bool {
        self.found
    }

    /// Build settings for a device's C.
    pub fn build(&self) -> &DeviceBuild {
        &self.build
    }

    /// The compiler.
    pub fn compiler(&self) -> &str {
        &self.compiler
    }

    /// Compiler flags for the program around a graph.
    pub fn harness_flags(&self) -> Vec<String> {
        vec!["-w".to_owned(), "-std=gnu11".to_owned()]
    }

    /// Linker flags for a program.
    pub fn link_flags(&self) -> Vec<String> {
        if self.found { vec![CHECKS[0].to_owned()] } else { vec![] }
    }
}

/// Tests that a program with all checks can be built and run.
fn works(compiler: &str) -> bool {
    let Ok(folder) = Folder::new() else { return false };
    let folder = folder.path();
    if std::fs::write(folder.join("probe.c"), "int main(void) { return 0; }\n").is_err() {
        return false;
    }
    let mut words = compiler.split_whitespace();
    let quiet = |command: &mut Command| {
        let output = process::output(command.current_dir(folder));
        output.is_ok_and(|output| output.status.success())
    };
    let mut build = Command::new(words.next().unwrap_or("cc"));
    build.args(words).args(CHECKS).args(WITH_CHECKS).args(["probe.c", "-o", "probe"]);
    let mut run = Command::new("./probe");
    run.env("ASAN_OPTIONS", OPTIONS);
    quiet(&mut build) && quiet(&mut run)
}
