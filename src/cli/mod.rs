//! The `phaseline` program. Only this module reads the environment, prints and decides exit codes.

pub mod args;
mod bench;
pub mod binding;
mod build;
mod bytecode;
mod cache;
mod check_target;
mod data;
mod debug;
mod inspect;
mod kernels;
mod layers;
mod log;
mod memory;
mod model;
mod moves;
mod new_compiler;
mod new_target;
mod pages;
mod partition;
mod profile;
mod progress;
mod registry;
mod run;
mod signals;
mod steps;
mod templates;
mod verify;
pub mod watch;

use crate::{Error, Result, Session, Toolkit, session::Severity};
use args::{Cli, Command};
use clap::Parser;
use std::{
    ffi::OsString,
    io::{self, Write},
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
};

/// Runs the program with a process's arguments.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    start();
    ExitCode::from(run(&Toolkit::default(), arguments))
}

impl Toolkit {
    /// The main function of a program `NAME` with the arguments of the process: `NAME opt ...` is the pass driver,
    /// `NAME lsp ...` the language server, and other words are commands of `phaseline`: `NAME compile net.onnx -o out`. A program
    /// whose name ends with `-opt` or `-lsp-server` is that tool.
    pub fn main(&self, arguments: impl Iterator<Item = OsString>) -> ExitCode {
        let arguments: Vec<_> = arguments.collect();
        self.tools().tool_main(&arguments).unwrap_or_else(|| {
            start();
            ExitCode::from(run(self, arguments.into_iter()))
        })
    }
}

/// Makes the process one that runs a command. A panic is a fault of ours: it becomes a message like any other, not a
/// backtrace.
fn start() {
    panic::set_hook(Box::new(|_| {}));
    signals::install();
}

/// Runs a command line. The process's handlers of panics and signals stay as they are.
pub fn run_line(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    ExitCode::from(run(&Toolkit::default(), arguments))
}

/// As [`run_line`], with the number of the exit code.
fn run(toolkit: &Toolkit, arguments: impl Iterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let code = u8::from(error.use_stderr());
            let _ = error.print();
            return code;
        }
    };
    if let Err(error) = log::install(cli.log.as_deref()) {
        let _ = writeln!(io::stderr(), "error: {error}");
        return 1;
    }
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| execute(toolkit, &cli.command)))
        .unwrap_or_else(|payload| Err(Error::internal(crate::pass::panic_text(payload.as_ref()))));
    match outcome {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            1
        }
    }
}

fn execute(toolkit: &Toolkit, command: &Command) -> Result<()> {
    match command {
        Command::Compile(args) => build::compile(toolkit, args),
        Command::Run(args) => run::run(toolkit, args),
        Command::Verify(args) => verify::verify(toolkit, args),
        Command::Bench(args) => bench::bench(toolkit, args),
        Command::Debug(args) => debug::debug(toolkit, args),
        Command::Inspect(args) => inspect::inspect(toolkit, args),
        Command::Partition(args) => partition::partition(toolkit, args),
        Command::Profile(args) => profile::profile(toolkit, args),
        Command::Targets(args) => partition::targets(toolkit, args),
        Command::NewTarget(args) => new_target::new_target(args),
        Command::NewCompiler(args) => new_compiler::new_compiler(args),
        Command::CheckTarget(args) => check_target::check_target(toolkit, args),
        Command::Pages { directory } => pages::write(directory),
        Command::PrintBytecode { path } => bytecode::print_bytecode(toolkit, path),
    }
}

/// A session that prints warnings, as they come; remarks are in the log (`--log pass=info`).
fn new_session(toolkit: &Toolkit) -> Session {
    let session = toolkit.session();
    session.on_diagnostic(|diagnostic| {
        if diagnostic.severity == Severity::Warning {
            print_error(&format!("warning: {diagnostic}\n"));
        }
    });
    session
}

/// Writes to standard error what was asked for beside the output.
fn print_error(text: &str) {
    // Nobody can be told that standard error is closed.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Prints to standard output; a closed pipe is not an error.
fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("cannot write", std::path::Path::new("standard output"), error))
        }
        _ => Ok(()),
    }
}
