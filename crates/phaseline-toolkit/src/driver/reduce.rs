//! `opt --reduce-with COMMAND`: the smallest part of a file of IR for which a command succeeds.

use super::report;
use crate::{Error, Result, Session, ir::print};
use phaseline_base::process::{Ended, Folder, supervise};
use std::{
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

/// The option that asks for a reduction.
const OPTION: &str = "--reduce-with";

/// The status of a shell that finds no command.
const NO_COMMAND: i32 = 127;

const USAGE: &str = "--reduce-with takes one file of IR, and with it: -o FILE, --reduce-timeout SECONDS (60 by default)";

/// The request.
struct Arguments {
    input: PathBuf,
    output: Option<PathBuf>,
    command: String,
    time: Duration,
}

/// True if the arguments of a pass driver ask for a reduction.
pub fn is_asked(arguments: &[OsString]) -> bool {
    arguments.iter().any(|one| {
        let text = one.to_string_lossy();
        text == OPTION || text.strip_prefix(OPTION).is_some_and(|rest| rest.starts_with('='))
    })
}

/// Reduces with the arguments of a process.
pub fn reduce_main(session: &Session, arguments: &[OsString]) -> ExitCode {
    match read(arguments).and_then(|arguments| reduce(session, &arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

fn read(arguments: &[OsString]) -> Result<Arguments> {
    let (mut input, mut output, mut command) = (None, None, None);
    let mut seconds = 60;
    let mut left = arguments.iter().skip(1).map(|one| one.to_string_lossy().into_owned());
    while let Some(argument) = left.next() {
        let (name, given) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with('-') => {
                (name.to_owned(), Some(value.to_owned()))
            }
            _ => (argument, None),
        };
        let mut value =
            || given.clone().or_else(|| left.next()).ok_or_else(|| Error::invalid(USAGE));
        match name.as_str() {
            OPTION => command = Some(value()?),
            "-o" => output = Some(PathBuf::from(value()?)),
            "--reduce-timeout" => {
                let text = value()?;
                let number = text.parse().ok().filter(|seconds| *seconds > 0);
                seconds = number.ok_or_else(|| {
                    Error::invalid(format!(
                        "--reduce-timeout {text}: a number of seconds is wanted"
                    ))
                })?;
            }
            name if name.starts_with('-') => {
                return Err(Error::invalid(format!("{name}: {USAGE}")));
            }
            _ if input.is_some() => return Err(Error::invalid(USAGE)),
            name => input = Some(PathBuf::from(name)),
        }
    }
    match (input, command) {
        (Some(input), Some(command)) => {
            Ok(Arguments { input, output, command, time: Duration::from_secs(seconds) })
        }
        _ => Err(Error::invalid(USAGE)),
    }
}

fn reduce(session: &Session, arguments: &Arguments) -> Result<()> {
    let module = session.parse_file(&arguments.input)?;
    let folder = Folder::new()?;
    let file = folder.path().join("reduced.mlir");
    let (mut first, mut late) = (None, 0);
    let outcome = session.reduce(&module, &mut |text| {
        crate::io::write_bytes(&file, text)?;
        let ended = run(&arguments.command, &file, arguments.time)?;
        let is_kept = matches!(ended, Ended::Itself(status) if status.success());
        late += usize::from(matches!(ended, Ended::Late));
        first.get_or_insert(ended);
        Ok(is_kept)
    });
    let told = || format!("{OPTION} '{}'", arguments.command);
    let (small, asked) = match (outcome, first) {
        (Ok(reduced), _) => reduced,
        (Err(error), Some(ended)) if !matches!(ended, Ended::Itself(status) if status.success()) => {
            let input = arguments.input.display();
            return Err(Error::invalid(match ended {
                Ended::Itself(status) if status.code() == Some(NO_COMMAND) => {
                    format!("{}: there is no such command; give its path, or one of PATH", told())
                }
                Ended::Itself(status) => format!(
                    "{error}\n{} ended with {status} on {input}, and has to succeed on it",
                    told()
                ),
                Ended::Late | Ended::Large => format!(
                    "{} took more than {} seconds on {input}; give it more with --reduce-timeout",
                    told(),
                    arguments.time.as_secs()
                ),
            }));
        }
        (Err(error), _) => return Err(error),
    };
    let text = print::print_plain(crate::ir::root(&small))?;
    let count = |module| crate::ir::edit::walk(crate::ir::root(module)).len();
    // Nobody can be told that standard error is closed.
    let _ = writeln!(
        std::io::stderr(),
        "{} operations became {} in {asked} runs of the command{}",
        count(&module),
        count(&small),
        match late {
            0 => String::new(),
            late =>
                format!(", of which {late} took more than {} seconds", arguments.time.as_secs()),
        }
    );
    match &arguments.output {
        Some(path) => Ok(crate::io::write_bytes(path, text)?),
        None => std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| Error::invalid(format!("cannot write to standard output: {error}"))),
    }
}

/// Runs the command on a file, for which `%s` stands, or which comes last.
fn run(command: &str, file: &Path, time: Duration) -> Result<Ended> {
    let path = file.display().to_string();
    let line = match command.contains("%s") {
        true => command.replace("%s", &path),
        false => format!("{command} {path}"),
    };
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    supervise(&mut shell, time, &|| false)
        .map_err(|error| Error::invalid(format!("{OPTION}: cannot run sh: {error}")))
}
