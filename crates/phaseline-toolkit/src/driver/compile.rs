//! The driver of a compiler: its phases on a file of IR, from where to where, with the IR after each on request.

use super::report;
use crate::{
    Error, Phases, Result, Session, Verified,
    ir::print::{Weights, print_module},
    phase::{Dump, PhaseRun, Sections},
};
use clap::{CommandFactory, FromArgMatches, Parser};
use melior::ir::Module;
use std::{
    ffi::OsString,
    io::Write,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Command, ExitCode},
};

/// Arguments of the driver.
#[derive(Parser)]
struct Arguments {
    /// File of IR, as text
    input: Option<PathBuf>,
    /// File for the result; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Stop after this phase
    #[arg(long, value_name = "PHASE")]
    emit: Option<String>,
    /// Go on after this phase: the file is what --emit or --dump-phases wrote
    #[arg(long, value_name = "PHASE")]
    from: Option<String>,
    /// Write the IR after each phase into a folder
    #[arg(long, value_name = "FOLDER")]
    dump_phases: Option<PathBuf>,
    /// Print the pipelines of all phases, and stop
    #[arg(long)]
    print_pipeline: bool,
    /// Run the pipelines of a file, as --print-pipeline prints them
    #[arg(long, value_name = "FILE")]
    pipeline: Option<PathBuf>,
    /// Write IR and pipeline there when a pass fails
    #[arg(long, value_name = "FILE")]
    reproducer: Option<PathBuf>,
    /// Run a function of what was made, in a process of its own, and print its result
    #[arg(long, value_name = "FUNCTION")]
    run: Option<String>,
    /// Numbers for the function
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "run"
    )]
    arguments: Vec<String>,
    /// Load a plugin in Rust: its dialects, passes and pipelines
    #[arg(long, value_name = "FILE")]
    #[allow(dead_code, reason = "the toolkit has loaded them")]
    load_pass_plugin: Vec<PathBuf>,
    /// As --load-pass-plugin
    #[arg(long, value_name = "FILE")]
    #[allow(dead_code, reason = "as above")]
    load_dialect_plugin: Vec<PathBuf>,
    /// This is the process for the function
    #[arg(long, hide = true, requires = "run")]
    run_here: bool,
}

/// Calls a function of a module, with numbers as texts.
pub type Runner<'a> = &'a dyn Fn(&Session, &Module<'_>, &str, &[String]) -> Result<Option<String>>;

/// The compiler of a driver.
pub struct Compiler<'a> {
    /// The first line of the help.
    pub title: &'a str,
    /// Makes a session.
    pub session: &'a dyn Fn() -> Session,
    /// The phases.
    pub phases: &'a Phases,
    /// Runs functions, if the compiler does.
    pub runner: Option<Runner<'a>>,
}

/// Runs the driver with a process's arguments.
pub fn compile_main(compiler: &Compiler<'_>, given: Vec<OsString>) -> ExitCode {
    let names: Vec<_> = compiler.phases.names().collect();
    let about = format!("{}\nPhases: {}", compiler.title, names.join(", "));
    let parsed = Arguments::command().about(about).try_get_matches_from(&given);
    match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(Arguments { run: Some(name), run_here: false, .. }) => {
            let outcome = match compiler.runner {
                Some(_) => run_apart(&name, &given),
                None => Err(Error::invalid(
                    "--run: this compiler runs nothing (Toolkit::jit has it do so)",
                )),
            };
            outcome.unwrap_or_else(|error| report(&error))
        }
        Ok(arguments) => match run(compiler, &arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(&error),
        },
        Err(error) => {
            // Nobody can be told that the terminal is closed.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

/// Has another process of this program compile the file and run a function: what the function does to memory, or to the
/// process, is not ours.
fn run_apart(function: &str, given: &[OsString]) -> Result<ExitCode> {
    let program = std::env::current_exe()
        .map_err(|error| Error::invalid(format!("--run: the program is nowhere: {error}")))?;
    let mut command = Command::new(&program);
    let mut given = given.iter();
    if let Some(name) = given.next() {
        command.arg0(name);
    }
    let status = command.args(given).arg("--run-here").status();
    let status = status.map_err(|e| Error::io("cannot run", &program, e))?;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        (None, signal) => Err(Error::invalid(format!(
            "'{function}' was ended by signal {}: it reads or writes where nothing is, or called for an end",
            signal.unwrap_or_default()
        ))),
    }
}

fn run(compiler: &Compiler<'_>, arguments: &Arguments) -> Result<()> {
    let phases = compiler.phases;
    let sections = match &arguments.pipeline {
        None => phases.sections()?,
        Some(path) => {
            let bytes =
                crate::io::read_regular(path).map_err(|e| Error::io("cannot read", path, e))?;
            let text = String::from_utf8_lossy(&bytes);
            Sections::parse(&text, &path.to_string_lossy(), |name| phases.find(name))?
        }
    };
    if arguments.print_pipeline {
        return write(arguments, sections.to_string().as_bytes());
    }
    let find = |name: &Option<String>| name.as_deref().map(|name| phases.find(name)).transpose();
    let (from, until) = (find(&arguments.from)?, find(&arguments.emit)?);
    if let (Some(from), Some(until)) = (&from, &until)
        && until <= from
    {
        return Err(Error::invalid(format!("--emit {until} is not after --from {from}")));
    }
    let input = arguments.input.as_ref().ok_or_else(|| {
        Error::invalid("there is no file to compile: give one, or --print-pipeline")
    })?;
    let session = (compiler.session)();
    let mut module = session.parse_file(input)?;
    let all = phases.all();
    let wanted = all.iter().filter(|phase| {
        from.as_ref().is_none_or(|from| *phase > from)
            && until.as_ref().is_none_or(|until| *phase <= until)
    });
    let wanted: Vec<_> = wanted.cloned().collect();
    let dump = arguments.dump_phases.as_deref();
    let dump = dump.map(|folder| Dump {
        folder,
        weights: Weights::Print,
        all: &all,
        after: from.as_ref(),
    });
    let phases = PhaseRun {
        sections: &sections,
        phases: &wanted,
        dump,
        reproducer: arguments.reproducer.as_deref(),
        observer: None,
        pass_observer: None,
        verified: &|_| Verified::Passes,
        frees: &|_| false,
    };
    phases.run(&session, &mut module)?;
    for diagnostic in session.take_diagnostics() {
        // As above: a closed terminal.
        let _ = writeln!(std::io::stderr(), "{diagnostic}");
    }
    let (Some(name), Some(runner)) = (&arguments.run, compiler.runner) else {
        return write(arguments, print_module(&module, Weights::Print)?.as_bytes());
    };
    match runner(&session, &module, name, &arguments.arguments)? {
        Some(result) => write(arguments, format!("{result}\n").as_bytes()),
        None => Ok(()),
    }
}

/// Writes the result to where the arguments say.
fn write(arguments: &Arguments, bytes: &[u8]) -> Result<()> {
    match &arguments.output {
        Some(path) => Ok(crate::io::write_bytes(path, bytes)?),
        None => std::io::stdout()
            .write_all(bytes)
            .map_err(|error| Error::invalid(format!("cannot write to standard output: {error}"))),
    }
}
