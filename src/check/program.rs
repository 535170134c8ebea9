//! A compiled graph as a program of its own. A device that crashes, hangs or writes out of bounds
//! ends that program only, and its last words are reported.

use super::sanitizer::{self, Sanitizer};
use crate::{
    Compiled, Error, Result, Tensor,
    artifact::{DeviceMemory, Object, Signature},
    codegen::c::{compile as c, context, tool::Tool},
    ir::{Op, guard, memory},
    process::{self, Folder},
    targets::TargetInstance,
    tensor::AlignedBuffer,
};
use std::{
    fmt::Write as _,
    fs::{self, File},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// The program around a graph.
const HARNESS: &str = include_str!("harness.c");
const BUFFERS: &str = include_str!("harness_buffers.h");

/// Most time that a program around a small graph computes, in seconds.
pub const COMPUTING: u64 = 20;

/// Most time that it takes, whatever it does.
const LIMIT: Duration = Duration::from_secs(120);

/// Places in memory that nothing may touch.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    /// Gaps in the arena: begin and end of each.
    pub arena: Vec<(usize, usize)>,
    /// Gaps in the block of constants.
    pub constants: Vec<(usize, usize)>,
    /// Gaps in memories of devices.
    pub devices: Vec<DeviceGaps>,
}

/// Places in the memory of a device that nothing may touch, and how to look at them.
#[derive(Clone, Debug)]
pub struct DeviceGaps {
    /// Id of the target.
    target: String,
    /// Name of the memory.
    memory: String,
    /// Functions of the device, as the manifest has them.
    copy_in: String,
    copy_out: String,
    wait: Option<String>,
    /// Milliseconds that the wait is given.
    limit: Option<i64>,
    /// Calls around the device's work.
    around: Option<context::Calls>,
    /// Begin and end of each.
    gaps: Vec<(usize, usize)>,
}

impl DeviceGaps {
    /// Gaps between a module's values in the memory of a target; none if it has no memory.
    pub fn of(module: Op<'_>, target: &TargetInstance) -> Result<Option<Self>> {
        let Some(decl) = &target.kind.memory else { return Ok(None) };
        let declared = memory::declared(module)?;
        let space = declared.into_iter().find(|memory| memory.target == target.id);
        let Some(space) = space.map(|memory| memory.space) else { return Ok(None) };
        Ok(Some(Self {
            target: target.id.clone(),
            memory: decl.name.clone(),
            copy_in: decl.copy_in.clone(),
            copy_out: decl.copy_out.clone(),
            wait: target.kind.queue.as_ref().map(|queue| queue.wait.clone()),
            limit: target.timeout()?,
            around: context::any(&target.kind.codegen),
            gaps: guard::recorded_in(module, &space),
        }))
    }

    /// Lines of the plan for the device at a place, which has this much in the memory.
    fn plan(&self, place: usize, memory: &DeviceMemory) -> String {
        let or_none = |name: Option<&String>| name.cloned().unwrap_or_else(|| "-".to_owned());
        let (begin, end) =
            self.around.as_ref().map_or((None, None), |c| (Some(&c.begin), c.end.as_ref()));
        let words = [
            self.copy_in.clone(),
            self.copy_out.clone(),
            or_none(self.wait.as_ref()),
            self.limit.unwrap_or(-1).to_string(),
            or_none(begin),
            or_none(end),
            memory.values_bytes.to_string(),
            memory.constants_offset.to_string(),
            memory.constants_bytes.to_string(),
            self.memory.clone(),
        ];
        let mut text = format!("on-device {place} {}\n", words.join(" "));
        for (begin, end) in &self.gaps {
            // Writing to a string does not fail.
            let _ = writeln!(text, "hole {begin} {end}");
        }
        text
    }
}

/// Runs a compiled graph once for each list of inputs, all with one device, for at most `seconds` of
/// computing; gives the outputs of each run. An error says what the device did.
pub fn run(
    compiled: &Compiled,
    gaps: &Gaps,
    inputs: &[Vec<Tensor>],
    sanitizer: &Sanitizer,
    seconds: u64,
) -> Result<Vec<Vec<Tensor>>> {
    compiled.machine.check_runs_here()?;
    let folder = Folder::new()?;
    let folder = folder.path();
    link(compiled, folder, sanitizer)?;
    write(folder, "constants", &compiled.constants)?;
    for (number, tensors) in inputs.iter().enumerate() {
        let bytes: Vec<u8> = tensors.iter().flat_map(|tensor| tensor.bytes()).copied().collect();
        write(folder, &format!("in{number}"), &bytes)?;
    }
    let plan = plan(&compiled.signature, gaps, inputs.len())?;
    // Libraries of others keep what they made for the next time.
    let memory = if compiled.link.is_empty() { "memory\n" } else { "" };
    write(folder, "plan", format!("limit {seconds}\n{memory}{plan}").as_bytes())?;
    let (status, said) = start(folder)?;
    if let Some(fault) = fault(status, &said, seconds) {
        return Err(Error::invalid(fault));
    }
    (0..inputs.len()).map(|number| outputs(&compiled.signature, folder, number)).collect()
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    fs::write(&path, bytes).map_err(|e| Error::io("cannot write", &path, e))
}

/// Script for the harness: devices, memories, gaps and runs.
fn plan(signature: &Signature, gaps: &Gaps, runs: usize) -> Result<String> {
    let mut text = String::new();
    for device in &signature.devices {
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
        let (open, close) = (name(&device.open), name(&device.close));
        // Writing to a string does not fail.
        let _ = writeln!(text, "device {open} {close} {}", name(&device.status_string));
    }
    let _ = writeln!(text, "arena {}", signature.arena_bytes);
    let _ = writeln!(text, "constants {} constants", signature.constants_bytes);
    for (what, list) in [("arena", &gaps.arena), ("constants", &gaps.constants)] {
        for (begin, end) in list {
            let _ = writeln!(text, "gap {what} {begin} {end}");
        }
    }
    for of in &gaps.devices {
        let mut devices = signature.devices.iter();
        let place = devices.position(|device| device.target == of.target);
        let memory = place.and_then(|place| signature.devices[place].memory.as_ref());
        text +=
            &place.zip(memory).map(|(place, memory)| of.plan(place, memory)).unwrap_or_default();
    }
    for port in &signature.inputs {
        let _ = writeln!(text, "input {}", port.bytes()?);
    }
    for port in &signature.outputs {
        let _ = writeln!(text, "output {}", port.bytes()?);
    }
    for number in 0..runs {
        let _ = writeln!(text, "run in{number} out{number}");
    }
    Ok(text)
}

fn link(compiled: &Compiled, folder: &Path, sanitizer: &Sanitizer) -> Result<()> {
    let harness = c::COptions {
        compiler: sanitizer.compiler().to_owned(),
        shared: true,
        flags: sanitizer.harness_flags(),
        headers: vec![("phaseline_buffers.h".to_owned(), BUFFERS.to_owned())],
        sources: vec![("phaseline_harness.c".to_owned(), HARNESS.to_owned())],
        cache: Some(sanitizer.build().objects.clone()),
        ..Default::default()
    };
    let mut names = vec![];
    let objects: Vec<Object> = c::sources(&harness)?;
    for (number, object) in compiled.objects.iter().chain(&objects).enumerate() {
        let name = format!("{number}_{}", object.name);
        write(folder, &name, &object.bytes)?;
        names.push(name);
    }
    let tool = Tool::new(sanitizer.compiler())?;
    let mut command = tool.command(folder);
    command
        .args(sanitizer.link_flags())
        .args(["-rdynamic", "-o", "program"])
        .args(names)
        .args(&compiled.link)
        .args(library_folders(&compiled.link))
        .args(["-lm", "-ldl", "-lpthread"]);
    tool.run(command, "linking the program around a graph").map(|_| ())
}

/// Flags that let the program find shared libraries where a run in this process looks first.
fn library_folders(flags: &[String]) -> Vec<String> {
    let folders = flags.iter().filter_map(|flag| flag.strip_prefix("-L"));
    folders.map(|folder| format!("-Wl,-rpath,{folder}")).collect()
}

/// Runs the program; gives how it ended and what it said.
fn start(folder: &Path) -> Result<(Option<ExitStatus>, String)> {
    let path = folder.join("said");
    let said = File::create(&path).map_err(|e| Error::io("cannot create", &path, e))?;
    let failure = |e| Error::io("cannot run", &folder.join("program"), e);
    let mut command = Command::new("./program");
    command
        .arg("plan")
        .current_dir(folder)
        .env("ASAN_OPTIONS", sanitizer::OPTIONS)
        .env("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1:exitcode=98")
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said);
    let mut running = process::start(&mut command).map_err(failure)?;
    let child = &mut running.child;
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failure)? {
            break Some(status);
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let said = fs::read(&path).unwrap_or_default();
    Ok((status, String::from_utf8_lossy(&said).into_owned()))
}

/// Description of a failure; none after success.
fn fault(status: Option<ExitStatus>, said: &str, seconds: u64) -> Option<String> {
    let Some(status) = status else {
        return Some(format!("the device does not end within {} s", LIMIT.as_secs()));
    };
    if status.success() {
        return None;
    }
    let run = said.lines().rev().find_map(|line| line.strip_prefix("run "));
    let when = match run {
        Some("0") => "",
        Some(_) => ", though not when it is run for the first time",
        None => ", before it runs",
    };
    if let Some(text) = said.lines().find_map(|line| line.strip_prefix("phaseline: ")) {
        let at_end = ["cannot be closed", "keeps "].iter().any(|start| text.starts_with(start));
        let when = if at_end { "" } else { when };
        return Some(format!("the device {text}{when}"));
    }
    if let Some(text) = report(said) {
        return Some(format!("the device's C is at fault: {text}{when}"));
    }
    Some(format!("the device {}{when}", end(status, seconds)))
}

/// Finding of a sanitizer, with the place in the device's C.
fn report(said: &str) -> Option<String> {
    let mut lines = said.lines();
    let line = lines.find(|line| {
        line.contains("ERROR: AddressSanitizer: ") || line.contains(": runtime error: ")
    })?;
    let what = match line.split_once("ERROR: AddressSanitizer: ") {
        // A description of the fault, then addresses, which differ each time.
        Some((_, text)) => {
            let kind = text.split(" on ").next().unwrap_or(text);
            let access = said.lines().find_map(|line| {
                let start = line.split_once(" of size ")?;
                let size = start.1.split(' ').next()?;
                ["READ", "WRITE"]
                    .contains(&start.0)
                    .then(|| format!(", {} of {size} bytes", start.0))
            });
            format!("{kind}{}", access.unwrap_or_default())
        }
        None => return Some(line.to_owned()),
    };
    let place = said.lines().find_map(|line| {
        let frame = line.trim_start().strip_prefix('#')?;
        let (_, function) = frame.split_once(" in ")?;
        let ours = ["phaseline_harness.c", "libsanitizer", "sanitizer_common", "interceptors"];
        (function.contains(".c:") && !ours.iter().any(|name| function.contains(name)))
            .then(|| function.to_owned())
    });
    Some(match place {
        Some(place) => format!("{what}, in {place}"),
        None => what,
    })
}

/// Description of the end of a program without a message.
fn end(status: ExitStatus, seconds: u64) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            let name = match signal {
                4 => " (illegal instruction)",
                6 => " (abort)",
                7 => " (bus error)",
                8 => " (arithmetic)",
                11 => " (segmentation fault)",
                9 | 24 => {
                    return format!("computes for more than {seconds} s without an end");
                }
                _ => "",
            };
            return format!("crashes with signal {signal}{name}");
        }
    }
    format!("ends the program with exit code {}", status.code().unwrap_or(-1))
}

/// The outputs of a run.
fn outputs(signature: &Signature, folder: &Path, number: usize) -> Result<Vec<Tensor>> {
    let path = folder.join(format!("out{number}"));
    let bytes = fs::read(&path).map_err(|e| Error::io("cannot read", &path, e))?;
    let mut rest = &bytes[..];
    let mut tensors = vec![];
    for port in &signature.outputs {
        let size = port.bytes()?;
        let Some((data, more)) = rest.split_at_checked(size) else {
            return Err(Error::internal("the program around a graph wrote too little"));
        };
        rest = more;
        let buffer = AlignedBuffer::copy_of(data)?;
        tensors.push(Tensor::from_buffer(port.dtype, &port.shape, buffer)?);
    }
    Ok(tensors)
}
