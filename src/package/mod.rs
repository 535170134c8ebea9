//! Writing a compiled model as a directory that C programs link against and that `phaseline run`
//! loads.

mod archive;
mod data;
mod header;

use crate::{
    Error, Result,
    codegen::llvm::{Object, machine::Machine},
    hook::ArtifactKind,
    runtime::Signature,
};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Symbol of the shared library that holds the signature as JSON.
pub const SIGNATURE_SYMBOL: &str = "phaseline_signature";

/// File with the description of a package.
const METADATA: &str = "metadata.json";

/// Version of the layout of packages.
const FORMAT: u32 = 2;

/// A file that goes into the package as it is, such as generated C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraFile {
    /// Path inside of the package, with `/` between names.
    pub path: String,
    /// What it is.
    pub kind: ArtifactKind,
    /// Id of the target that it comes from; none for the whole model's.
    pub target: Option<String>,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What one target contributed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetPart {
    /// Id of the target.
    pub id: String,
}

/// A file of a package, as `metadata.json` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path inside of the package.
    pub path: String,
    /// What it is.
    pub kind: ArtifactKind,
    /// Id of the target that it comes from; none for the whole model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Its size.
    pub bytes: u64,
}

/// Everything that a package is made of.
#[derive(Clone, Debug)]
pub struct Contents<'a> {
    /// Interface of the model.
    pub signature: &'a Signature,
    /// What the host's code is for.
    pub machine: &'a Machine,
    /// Object files of host and targets.
    pub objects: &'a [Object],
    /// The constants, as `pack-constants` collected them.
    pub constants: &'a [u8],
    /// Further files.
    pub files: &'a [ExtraFile],
    /// What each target contributed.
    pub targets: &'a [TargetPart],
    /// Arguments for the linker of the shared library, such as `-lopenblas`.
    pub link: &'a [String],
    /// The C compiler that links the shared library; arguments may follow the program.
    pub cc: &'a str,
}

/// The description of a package, as `metadata.json` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Version of the layout of packages.
    pub phaseline_package: u32,
    /// What the host's code is for.
    #[serde(flatten)]
    pub machine: Machine,
    /// Interface of the model.
    pub signature: Signature,
    /// The targets that have code in it.
    pub targets: Vec<TargetPart>,
    /// Every file but this description, in the order of their paths.
    pub files: Vec<FileEntry>,
    /// Arguments for the linker of a program that uses the static library.
    pub link: Vec<String>,
}

impl Metadata {
    /// Reads the description of the package in `folder`.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(METADATA);
        let text = fs::read(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::invalid(format!(
                "{} is not a compiled model: it has no {METADATA}",
                folder.display()
            )),
            _ => Error::io("cannot read", &path, e),
        })?;
        let metadata: Self = serde_json::from_slice(&text).map_err(|e| {
            Error::invalid(format!("{} is not a description of a package: {e}", path.display()))
        })?;
        if metadata.phaseline_package != FORMAT {
            return Err(Error::invalid(format!(
                "{} has format {}, this version reads {FORMAT}: compile the model again",
                path.display(),
                metadata.phaseline_package
            )));
        }
        Ok(metadata)
    }
}

/// File name of the shared library of a model.
pub fn shared_library_name(model: &str) -> String {
    format!("lib{model}.so")
}

/// A C identifier like `text`: other characters become `_`, and a digit does not come first.
pub fn c_identifier(text: &str) -> String {
    let mut name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// Writes a package to `folder`: all of it or, on an error, nothing.
///
/// A package that is there already is replaced; anything else there is left alone, with an error.
pub fn write(folder: &Path, contents: &Contents<'_>) -> Result<()> {
    check_target_folder(folder)?;
    let absolute = std::path::absolute(folder).map_err(|e| Error::io("cannot find", folder, e))?;
    let parent =
        absolute.parent().ok_or_else(|| Error::invalid("the root is no place for output"))?;
    fs::create_dir_all(parent).map_err(|e| Error::io("cannot create", parent, e))?;
    let staging = tempfile::Builder::new()
        .prefix(".phaseline-")
        .tempdir_in(parent)
        .map_err(|e| Error::io("cannot write to", parent, e))?;
    fill(staging.path(), contents)?;
    make_readable(staging.path())?;
    let new = staging.keep();
    replace(&new, &absolute).inspect_err(|_| {
        let _ = fs::remove_dir_all(&new);
    })
}

/// Fails if a package must not be written to `folder`, which holds something else.
pub fn check_target_folder(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let refuse = |reason: &str| {
        Err(Error::invalid(format!(
            "{} {reason}; choose another output directory or remove it",
            folder.display()
        )))
    };
    if !folder.is_dir() {
        return refuse("is a file");
    }
    let mut entries = fs::read_dir(folder).map_err(|e| Error::io("cannot read", folder, e))?;
    if entries.next().is_none() || is_package(folder) {
        return Ok(());
    }
    refuse("is not empty and not a compiled model")
}

/// Whether a package is in `folder`, of whichever format.
fn is_package(folder: &Path) -> bool {
    let text = fs::read(folder.join(METADATA)).unwrap_or_default();
    let value: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    value.is_some_and(|value| value["phaseline_package"].is_u64())
}

fn fill(folder: &Path, contents: &Contents<'_>) -> Result<()> {
    let signature = contents.signature;
    let name = &signature.name;
    if c_identifier(name) != *name {
        return Err(Error::invalid(format!("the model name '{name}' is not a C identifier")));
    }
    let json = serde_json::to_string(signature)
        .map_err(|e| Error::internal(format!("the signature has no JSON form: {e}")))?;
    let (constants, described) = (format!("{name}_constants"), format!("{name}_signature"));
    let text = format!("{json}\0");
    let mut symbols: Vec<(&str, &[u8])> = vec![(&described, text.as_bytes())];
    if !contents.constants.is_empty() {
        symbols.push((&constants, contents.constants));
    }
    let data =
        data::object(&format!("{name}_data.o"), &contents.machine.triple, &symbols, contents.cc)?;
    let mut objects = contents.objects.to_vec();
    objects.push(data);
    put(folder, &format!("lib{name}.a"), &archive::write(&objects)?)?;
    put(folder, &format!("{name}.h"), header::header(signature).as_bytes())?;
    for file in contents.files {
        put(folder, &file.path, &file.bytes)?;
    }
    link_shared(folder, contents, &objects)?;
    let metadata = Metadata {
        phaseline_package: FORMAT,
        machine: contents.machine.clone(),
        signature: signature.clone(),
        targets: contents.targets.to_vec(),
        files: list(folder, contents)?,
        link: contents.link.to_vec(),
    };
    let mut json = serde_json::to_string_pretty(&metadata)
        .map_err(|e| Error::internal(format!("the metadata has no JSON form: {e}")))?;
    json.push('\n');
    put(folder, METADATA, json.as_bytes())
}

/// What is in the package so far, each file with its type.
fn list(folder: &Path, contents: &Contents<'_>) -> Result<Vec<FileEntry>> {
    let name = &contents.signature.name;
    let own = [
        (format!("lib{name}.a"), ArtifactKind::StaticLibrary),
        (shared_library_name(name), ArtifactKind::SharedLibrary),
        (format!("{name}.h"), ArtifactKind::Header),
    ];
    let own = own.into_iter().map(|(path, kind)| (path, kind, None));
    let extra = contents.files.iter();
    let extra = extra.map(|file| (file.path.clone(), file.kind, file.target.clone()));
    let mut entries = vec![];
    for (path, kind, target) in own.chain(extra) {
        let place = folder.join(&path);
        // Machines without shared libraries get none.
        if !place.exists() {
            continue;
        }
        let bytes = fs::metadata(&place).map_err(|e| Error::io("cannot read", &place, e))?.len();
        entries.push(FileEntry { path, kind, target, bytes });
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

fn put(folder: &Path, path: &str, bytes: &[u8]) -> Result<()> {
    let inside = Path::new(path).components().all(|c| matches!(c, std::path::Component::Normal(_)));
    if !inside {
        return Err(Error::internal(format!("'{path}' is not a path inside of a package")));
    }
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| Error::io("cannot create", parent, e))?;
    }
    fs::write(&path, bytes).map_err(|e| Error::io("cannot write", &path, e))
}

/// Whether there are shared libraries on a machine.
pub fn has_shared_libraries(triple: &str) -> bool {
    !triple.split('-').skip(1).any(|part| matches!(part, "none" | "elf" | "eabi" | "eabihf"))
}

/// Links the shared library with the system's C compiler. Nothing of the machine gets into it: the
/// linker sees relative paths only and leaves the build id out.
fn link_shared(folder: &Path, contents: &Contents<'_>, objects: &[Object]) -> Result<()> {
    if !has_shared_libraries(&contents.machine.triple) {
        return Ok(());
    }
    let name = &contents.signature.name;
    let work = folder.join(".objects");
    fs::create_dir(&work).map_err(|e| Error::io("cannot create", &work, e))?;
    let mut arguments = vec![];
    for object in objects {
        put(&work, &object.name, &object.bytes)?;
        arguments.push(object.name.clone());
    }
    let devices = contents.signature.devices.iter();
    let of_devices: String = devices
        .flat_map(|device| [&device.open, &device.close, &device.status_string])
        .flatten()
        .map(|function| format!(" {function};"))
        .collect();
    let exports = format!(
        "{{ global: {name}_invoke; {name}_constants; {SIGNATURE_SYMBOL};{of_devices} local: *; }};\n"
    );
    put(&work, "exports.map", exports.as_bytes())?;
    let library = shared_library_name(name);
    let mut words = contents.cc.split_whitespace();
    let program = words.next().unwrap_or("cc").to_owned();
    let output = Command::new(&program)
        .current_dir(&work)
        .args(words)
        .args(["-shared", "-fPIC", "-o"])
        .arg(format!("../{library}"))
        .args(&arguments)
        .arg(format!("-Wl,-soname,{library}"))
        .arg(format!("-Wl,--defsym,{SIGNATURE_SYMBOL}={name}_signature"))
        .args([
            "-Wl,--version-script,exports.map",
            "-Wl,--build-id=none",
            "-Wl,-z,noexecstack",
            "-Wl,--no-undefined",
            "-Wl,-s",
        ])
        .args(contents.link)
        .arg("-lm")
        .output()
        .map_err(|e| Error::Tool {
            program: program.clone(),
            detail: format!("{e}; a C compiler is needed to link the shared library (set CC)"),
        })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let mut detail: Vec<_> = text.lines().take(20).collect();
        let other = !contents.machine.triple.starts_with(std::env::consts::ARCH);
        let remedy = format!(
            "the code is for {}: CC has to name a C compiler for it, such as {0}-gcc",
            contents.machine.triple
        );
        detail.extend(other.then_some(remedy.as_str()));
        return Err(Error::Tool { program, detail: detail.join("\n") });
    }
    fs::remove_dir_all(&work).map_err(|e| Error::io("cannot remove", &work, e))
}

/// Temporary directories are private to the user; what becomes the package is not.
fn make_readable(folder: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder, mode).map_err(|e| Error::io("cannot change", folder, e))?;
    }
    Ok(())
}

/// Moves `new` to `place`, where an older package may be.
fn replace(new: &Path, place: &Path) -> Result<()> {
    if !place.exists() {
        return fs::rename(new, place).map_err(|e| Error::io("cannot create", place, e));
    }
    let mut aside = new.as_os_str().to_owned();
    aside.push("-old");
    let aside = PathBuf::from(aside);
    fs::rename(place, &aside).map_err(|e| Error::io("cannot replace", place, e))?;
    if let Err(error) = fs::rename(new, place) {
        let _ = fs::rename(&aside, place);
        return Err(Error::io("cannot replace", place, error));
    }
    fs::remove_dir_all(&aside).map_err(|e| Error::io("cannot remove", &aside, e))
}
