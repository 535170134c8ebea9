//! Answer of a hook that is a program: functions, constants, files for the package.

use crate::{
    Error, Result,
    artifact::{Artifact, ArtifactTypes},
    io,
    partition::Judgement,
    process::Folder,
    targets::hooks::{CallAnswer, Update},
    tensor::Tensor,
};
use serde::Deserialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder in which a program runs.
pub const WORK: &str = "work";

/// Answer of a program.
pub struct Answer {
    /// The folder with its files.
    work: PathBuf,
    /// The line that it answered with, in protocol 2.
    line: Option<Line>,
    _folder: Option<Folder>,
}

/// `answer.json`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Said {
    /// Inputs that the call is not given any more.
    #[serde(default)]
    leave_out: Vec<usize>,
    /// Functions that get the default.
    #[serde(default)]
    leaves: Vec<String>,
}

/// An answer of protocol 2, beside its `id` and what is in files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Line {
    /// Reason why the program declines.
    pub declines: Option<String>,
    /// Error that ends the compile.
    pub error: Option<String>,
    /// Inputs that the call is not given any more.
    #[serde(default)]
    pub leave_out: Vec<usize>,
    /// Functions of the target that get the default.
    #[serde(default)]
    pub leaves: Vec<String>,
    /// The C function that the function becomes a call of.
    pub call: Option<CallAnswer>,
    /// In a dry run: nanoseconds of the region's work.
    pub cost: Option<f64>,
}

/// An answer, as a program writes it.
const FILES: [&str; 2] = ["output.mlir", "artifacts"];

impl Drop for Answer {
    fn drop(&mut self) {
        // What a program of many answers wrote for one goes with that.
        if self.line.is_some() {
            let _ = fs::remove_dir_all(&self.work);
        }
    }
}

impl Answer {
    /// Answer of a program that ended, in its folder.
    pub fn of_files(folder: Folder, work: PathBuf) -> Self {
        Self { work, line: None, _folder: Some(folder) }
    }

    /// Answer of a program that goes on, with the folder of this request.
    ///
    /// # Errors
    /// It declines and answers all the same.
    pub fn of_line(line: Line, work: PathBuf, is_dry: bool) -> Result<Self> {
        let answer = Self { work, line: Some(line), _folder: None };
        if is_dry {
            return Ok(answer);
        }
        if let Some(Line { declines: Some(reason), call, .. }) = &answer.line {
            let written =
                FILES.into_iter().find(|name| answer.place(name).symlink_metadata().is_ok());
            let written = written.or_else(|| call.as_ref().map(|_| "call"));
            if let Some(written) = written {
                return Err(Error::invalid(format!(
                    "declines (\"{reason}\") and answers with {written}; do one of the two"
                )));
            }
        }
        Ok(answer)
    }

    /// Reason why the program declines, if it says so.
    pub fn declines(&self) -> Option<&str> {
        self.line.as_ref()?.declines.as_deref()
    }

    /// The verdict on a region that has no place yet. Files are of no account.
    ///
    /// # Errors
    /// The cost is no time.
    pub fn judgement(&self) -> Result<Judgement> {
        let line = self.line.clone().unwrap_or_default();
        if let Some(cost) = line.cost.filter(|cost| !cost.is_finite() || *cost < 0.0) {
            return Err(Error::invalid(format!(
                "says that the region costs {cost}; a cost is a number of nanoseconds that is not negative"
            )));
        }
        Ok(Judgement { declined: line.declines, cost: line.cost, dear: false })
    }

    /// The C function that the function becomes a call of.
    ///
    /// # Errors
    /// There is another answer, too.
    pub fn call(&self) -> Result<Option<&CallAnswer>> {
        let Some(call) = self.line.as_ref().and_then(|line| line.call.as_ref()) else {
            return Ok(None);
        };
        match self.read(FILES[0])? {
            None => Ok(Some(call)),
            Some(_) => Err(Error::invalid(format!(
                "answers with a call of {} and with {}; do one of the two",
                call.function, FILES[0]
            ))),
        }
    }

    /// The functions of the target that get the default.
    ///
    /// # Errors
    /// `answer.json` is not of its form.
    pub fn leaves(&self) -> Result<Vec<String>> {
        match &self.line {
            Some(line) => Ok(line.leaves.clone()),
            None => Ok(self.said()?.leaves),
        }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// The constant in a file, if it is there.
    pub fn constant(&self, name: &str) -> Result<Option<Tensor>> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let tensor = io::npy::parse(name, &bytes);
        tensor.map(Some).map_err(|error| Error::invalid(error.to_string()))
    }

    /// Updates of the constants at these inputs.
    pub fn updates(&self, inputs: &[usize]) -> Result<Vec<Update>> {
        let list = || inputs.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        if self.read("output.npy")?.is_some() {
            return Err(Error::invalid(format!(
                "wrote output.npy; asked about all constants of a call, the answer is \
                 output-N.npy, N being one of {}",
                list()
            )));
        }
        self.check_names(inputs, list)?;
        let said = match &self.line {
            Some(line) => Said { leave_out: line.leave_out.clone(), leaves: vec![] },
            None => self.said()?,
        };
        let strange = said.leave_out.iter().find(|input| !inputs.contains(input));
        if let Some(strange) = strange {
            return Err(Error::invalid(format!(
                "answer.json: leave-out has {strange}, which is no constant of the call; those \
                 are {}",
                list()
            )));
        }
        let update = |input: &usize| {
            let name = format!("output-{input}.npy");
            match (self.constant(&name)?, said.leave_out.contains(input)) {
                (Some(_), true) => Err(Error::invalid(format!(
                    "wrote {name}, and answer.json leaves it out; do one of the two"
                ))),
                (Some(new), false) => Ok(Update::Replace(new)),
                (None, true) => Ok(Update::LeaveOut),
                (None, false) => Ok(Update::Keep),
            }
        };
        inputs.iter().map(update).collect()
    }

    /// Fails for a constant in the answer that nobody asked about, which would be lost.
    fn check_names(&self, inputs: &[usize], list: impl Fn() -> String) -> Result<()> {
        let folder = self.place(".");
        let entries = fs::read_dir(&folder).map_err(|e| Error::io("cannot read", &folder, e))?;
        let mut names: Vec<_> =
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        let is_asked = |number: &str| inputs.iter().any(|input| input.to_string() == number);
        let strange = names.iter().find(|name| {
            let number = name.strip_prefix("output-").and_then(|n| n.strip_suffix(".npy"));
            number.is_some_and(|number| !is_asked(number))
        });
        strange.map_or(Ok(()), |name| {
            let inputs = list();
            Err(Error::invalid(format!("wrote {name}; the constants of the call are {inputs}")))
        })
    }

    fn said(&self) -> Result<Said> {
        let Some(bytes) = self.read("answer.json")? else { return Ok(Said::default()) };
        serde_json::from_slice(&bytes)
            .map_err(|error| Error::invalid(format!("answer.json: {error}")))
    }

    /// The content of a file, if it is there.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.place(name);
        match kind_of(&path)? {
            None => Ok(None),
            Some(kind) if kind.is_file() => {
                io::read_regular(&path).map(Some).map_err(|e| Error::io("cannot read", &path, e))
            }
            // A link could lead anywhere, and reading a pipe does not end.
            Some(_) => Err(Error::invalid(format!("wrote an {name} that is not a plain file"))),
        }
    }

    /// The files for the package, by name.
    pub fn artifacts(&self, types: &ArtifactTypes) -> Result<Vec<Artifact>> {
        let folder = self.place("artifacts");
        match kind_of(&folder)? {
            None => return Ok(vec![]),
            Some(kind) if kind.is_dir() => {}
            Some(_) => return Err(Error::invalid("made artifacts that is not a plain folder")),
        }
        let mut names = vec![];
        list(&folder, "", &mut names)?;
        // Directories have no order.
        names.sort();
        let read = |name: String| {
            let path = folder.join(&name);
            let bytes = io::read_regular(&path).map_err(|e| Error::io("cannot read", &path, e))?;
            Ok(Artifact { kind: types.of_file(&name, &bytes), name, bytes })
        };
        names.into_iter().map(read).collect()
    }
}

/// Adds the names of all files below a folder, those in folders with these in front.
fn list(folder: &Path, before: &str, names: &mut Vec<String>) -> Result<()> {
    let fail = |e| Error::io("cannot read", folder, e);
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().into_string().map_err(|name| {
            Error::invalid(format!("artifacts/{before}{} is not UTF-8", name.to_string_lossy()))
        })?;
        let name = format!("{before}{name}");
        match entry.file_type().map_err(fail)? {
            kind if kind.is_file() => names.push(name),
            kind if kind.is_dir() && name.len() < 200 => {
                list(&entry.path(), &format!("{name}/"), names)?;
            }
            _ => {
                return Err(Error::invalid(format!(
                    "artifacts/{name} is neither a plain file nor a folder of them, or its name is \
                     too long"
                )));
            }
        }
    }
    Ok(())
}

/// File type at a path; links are not followed.
fn kind_of(path: &Path) -> Result<Option<std::fs::FileType>> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("cannot read", path, error)),
    }
}
