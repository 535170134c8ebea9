//! Writing a compiled model as a directory that C programs link against and that `phaseline run`
//! loads.

mod archive;
pub(crate) mod data;
mod header;
mod layout;
mod link;
mod place;
mod weights;

pub use phaseline_runtime::package::{
    Embedded, FileEntry, Metadata, SIGNATURE_SYMBOL, describe_library,
};
pub use place::{Replace, check_target_folder};

use crate::{
    Error, Result,
    artifact::{
        ArtifactKind, Compiled, Object, PoolUse, Signature, WeightsFile, c_identifier,
        shared_library_name,
    },
    parallel,
    process::Folder,
};
use data::{Data, DataObject};
use phaseline_runtime::package::{Digest, FORMAT, METADATA_FILE};
use std::{fs, path::Path, thread};

impl Compiled {
    /// Writes the package: libraries, header, metadata, generated sources. A package that is
    /// there already and as it was written is replaced; anything else is left alone, with an
    /// error.
    pub fn write_package(&self, folder: &Path) -> Result<()> {
        self.write_package_over(folder, Replace::Unchanged)
    }

    /// As [`Compiled::write_package`]; `replace` limits the files that may be lost.
    pub fn write_package_over(&self, folder: &Path, replace: Replace) -> Result<()> {
        write(folder, self, replace)
    }
}

/// Writes a package to `folder`: all of it or, on an error, nothing.
///
/// A package that is there already and has not been changed is replaced; anything else there is
/// left alone, with an error, unless `replace` says otherwise. A link keeps pointing.
pub fn write(folder: &Path, model: &Compiled, replace: Replace) -> Result<()> {
    let path = folder.display();
    let _span = tracing::info_span!(target: "phaseline::package", "package", %path).entered();
    put_in_place(folder, replace, |staging| fill(staging, model))
}

/// Copies the package in `from` to `folder`, as [`write`] would write it there. If it is there already, its files
/// are as new.
///
/// # Errors
/// There is something else at `folder`, or the package is not as it was written.
pub fn copy(from: &Path, folder: &Path, replace: Replace) -> Result<()> {
    let files = Metadata::read(from)?.files;
    if replace == Replace::Unchanged && place::renew(folder, from, &files)? {
        return Ok(());
    }
    put_in_place(folder, replace, |staging| {
        let (description, copy) = (from.join(METADATA_FILE), staging.join(METADATA_FILE));
        fs::copy(description, &copy).map_err(|e| Error::io("cannot copy to", &copy, e))?;
        let copied = parallel::map(files.iter(), |file| copy_checked(from, staging, file));
        copied.into_iter().collect()
    })
}

/// The header of a model: its path in a package, and its text.
pub(crate) fn interface(signature: &Signature) -> (String, String) {
    (header::path(&signature.name), header::header(signature))
}

/// Puts what `fill` makes in a folder of its own in the place of `folder`.
fn put_in_place(
    folder: &Path,
    replace: Replace,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let place = place::find(folder)?;
    place::check(folder, &place, replace)?;
    let parent = place.parent().ok_or_else(|| Error::invalid("the root is no place for output"))?;
    fs::create_dir_all(parent).map_err(|e| Error::io("cannot create", parent, e))?;
    let staging = Folder::beside(parent).map_err(|e| Error::io("cannot write to", parent, e))?;
    fill(staging.path())?;
    // Linking takes a while, in which files may have appeared.
    place::check(folder, &place, replace)?;
    staging.replace(&place).map_err(|e| Error::io("cannot replace", folder, e))
}

/// Copies a file of a package, which has to be as it was written.
fn copy_checked(from: &Path, to: &Path, file: &FileEntry) -> Result<()> {
    let (place, to) = (from.join(&file.path), to.join(&file.path));
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|e| Error::io("cannot create", parent, e))?;
    }
    let copied = Digest::of_copied(&place, &to).map_err(|e| Error::io("cannot copy to", &to, e))?;
    if file.has(&copied) {
        return Ok(());
    }
    let (place, from) = (place.display(), from.display());
    Err(Error::invalid(format!("{place} is not as it was written: remove {from}")))
}

fn fill(folder: &Path, model: &Compiled) -> Result<()> {
    let mut signature = model.signature.clone();
    let name = &model.signature.name;
    if c_identifier(name) != *name {
        return Err(Error::invalid(format!("the model name '{name}' is not a C identifier")));
    }
    if let Some(function) = signature.functions().find(|text| c_identifier(text) != **text) {
        return Err(Error::invalid(format!("'{function}' is no name of a C function of a device")));
    }
    let beside = beside(folder, model)?;
    let objects: Vec<&Object> =
        model.objects.iter().chain(beside.as_ref().map(|beside| &beside.loader)).collect();
    signature.weights = beside.as_ref().map(|beside| beside.file.clone());
    let signature = &signature;
    let embedded = Embedded { machine: model.machine.clone(), signature: signature.clone() };
    let described = format!("{name}_signature");
    let text = format!("{}\0", embedded.to_json()?);
    let blocks = if beside.is_some() { vec![] } else { constants(model)? };
    let mut symbols = vec![Data { symbol: &described, bytes: text.as_bytes(), ..Data::default() }];
    symbols.extend(blocks.iter().map(|(symbol, bytes, alignment)| Data {
        symbol,
        bytes,
        alignment: *alignment,
        apart: !signature.pools.is_empty(),
    }));
    let file = format!("{name}_data.o");
    let data = DataObject::new(&file, &model.machine.triple, &symbols, &model.cc)?;
    archive::write(&folder.join(format!("lib{name}.a")), &objects, &data)?;
    for (path, text) in header::files(signature) {
        put(folder, &path, text.as_bytes())?;
    }
    let (others, copies) = layout::files(model, signature)?;
    for file in &others {
        put(folder, &file.path, file.text.as_bytes())?;
    }
    for copy in &copies {
        let library = format!("lib{name}.a");
        let bytes = fs::read(folder.join(&library));
        let bytes = bytes.map_err(|e| Error::io("cannot read", Path::new(&library), e))?;
        put(folder, &copy.path, &bytes)?;
    }
    let others = others.into_iter().map(|file| (file.path, file.kind));
    let copies = copies.into_iter().map(|copy| (copy.path, ArtifactKind::StaticLibrary));
    let others: Vec<_> = others.chain(copies).collect();
    for file in &model.files {
        if folder.join(&file.path).exists() {
            return Err(Error::invalid(format!(
                "two files of the package are called '{}': rename that of target '{}'",
                file.path,
                file.target.as_deref().unwrap_or_default()
            )));
        }
        put(folder, &file.path, &file.bytes)?;
    }
    let listed = beside.map(|beside| beside.entry);
    let files = link_and_list(folder, (model, signature), others, listed)?;
    let metadata = Metadata {
        phaseline_package: FORMAT,
        machine: model.machine.clone(),
        signature: signature.clone(),
        targets: model.targets.to_vec(),
        files,
        link: model.link.to_vec(),
    };
    let mut json = serde_json::to_string_pretty(&metadata)
        .map_err(|e| Error::internal(format!("the metadata has no JSON form: {e}")))?;
    json.push('\n');
    put(folder, METADATA_FILE, json.as_bytes())
}

/// Weights in a file of their own.
struct Beside {
    file: WeightsFile,
    entry: FileEntry,
    /// The code that maps them.
    loader: Object,
}

/// Writes the file of the weights, if they are in one.
fn beside(folder: &Path, model: &Compiled) -> Result<Option<Beside>> {
    if !weights::are_beside(model)? {
        return Ok(None);
    }
    let (file, xxh128) = weights::write(folder, model)?;
    let (path, kind) = (file.file.clone(), ArtifactKind::MemoryImage);
    let entry = FileEntry { path, kind, target: None, bytes: file.bytes, xxh128 };
    Ok(Some(Beside { loader: weights::loader(model, &file)?, file, entry }))
}

/// The blocks of constants, with their symbols and alignments.
fn constants(model: &Compiled) -> Result<Vec<(String, &[u8], u64)>> {
    let signature = &model.signature;
    if signature.pools.is_empty() {
        let whole =
            (format!("{}_constants", signature.name), &model.constants[..], data::ALIGNMENT);
        return Ok(if model.constants.is_empty() { vec![] } else { vec![whole] });
    }
    let used = signature.pools.iter().filter(|pool| pool.constants_bytes > 0);
    let block = |pool: &PoolUse| {
        let end = pool.constants_offset.saturating_add(pool.constants_bytes);
        let bytes = model.constants.get(pool.constants_offset..end).ok_or_else(|| {
            Error::internal(format!("the constants of pool '{}' are incomplete", pool.name))
        })?;
        Ok((signature.constants_symbol(pool), bytes, pool.alignment as u64))
    };
    used.map(block).collect()
}

/// Links the shared library, and lists the files of the package with their types. Existing files
/// are read while the linker runs.
fn link_and_list(
    folder: &Path,
    (model, signature): (&Compiled, &Signature),
    others: Vec<(String, ArtifactKind)>,
    listed: Option<FileEntry>,
) -> Result<Vec<FileEntry>> {
    let name = &model.signature.name;
    let headers = header::files(&model.signature).into_iter();
    let headers = headers.map(|(path, _)| (path, ArtifactKind::Header));
    let library = (format!("lib{name}.a"), ArtifactKind::StaticLibrary);
    let own = std::iter::once(library)
        .chain(headers)
        .chain(others)
        .map(|(path, kind)| (path, kind, None));
    let extra = model.files.iter();
    let extra = extra.map(|file| (file.path.clone(), file.kind, file.target.clone()));
    let there: Vec<_> = own.into_iter().chain(extra).collect();
    let mut entries: Vec<FileEntry> = thread::scope(|scope| {
        let described =
            || there.into_iter().map(|file| entry(folder, file)).collect::<Result<Vec<_>>>();
        let described = scope.spawn(described);
        link::shared(folder, model, signature)?;
        let failed = |_| Error::internal("reading the package failed");
        described.join().map_err(failed)?
    })?;
    let library = shared_library_name(name);
    // Machines without shared libraries get none.
    if folder.join(&library).exists() {
        entries.push(entry(folder, (library, ArtifactKind::SharedLibrary, None))?);
    }
    entries.extend(listed);
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

fn entry(
    folder: &Path,
    (path, kind, target): (String, ArtifactKind, Option<String>),
) -> Result<FileEntry> {
    let place = folder.join(&path);
    let Digest { bytes, xxh128 } =
        Digest::of(&place).map_err(|e| Error::io("cannot read", &place, e))?;
    Ok(FileEntry { path, kind, target, bytes, xxh128 })
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
