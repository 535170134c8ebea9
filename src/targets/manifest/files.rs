//! Checks the names of files and functions under `[codegen]`.

use super::Source;
use crate::{
    Result,
    targets::{
        file_name::{self, Use},
        kind::Files,
    },
};
use serde::Deserialize;
use std::{collections::BTreeMap, ops::Range};
use toml::Spanned;

/// The parts of a manifest that name files and functions, with their places.
#[derive(Default, Deserialize)]
struct Named {
    #[serde(default)]
    codegen: Lists,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Lists {
    #[serde(default)]
    headers: Vec<Spanned<String>>,
    #[serde(default)]
    sources: Vec<Spanned<String>>,
    open: Option<Spanned<String>>,
    #[serde(default)]
    open_arguments: Vec<Spanned<String>>,
    close: Option<Spanned<String>>,
    status_string: Option<Spanned<String>>,
    activate: Option<Spanned<String>>,
    deactivate: Option<Spanned<String>>,
    blob: Option<Functions>,
    stand_in: Option<Box<Lists>>,
}

#[derive(Default, Deserialize)]
struct Functions {
    load: Option<Spanned<String>>,
    execute: Option<Spanned<String>>,
    unload: Option<Spanned<String>>,
}

impl Lists {
    fn functions(&self) -> impl Iterator<Item = &Spanned<String>> {
        let blob = self.blob.iter().flat_map(|blob| [&blob.load, &blob.execute, &blob.unload]);
        [&self.open, &self.close, &self.status_string, &self.activate, &self.deactivate]
            .into_iter()
            .chain(blob)
            .flatten()
    }
}

/// Fails if a header or source of a manifest has a name that leads elsewhere or that another file
/// has, or a function is not one of C.
/// `text` is the manifest's, at its place in the source.
pub fn check(source: &Source, text: &str, files: &Files) -> Result<()> {
    // What is wrong with the manifest otherwise has been said already.
    let lists = toml::from_str::<Named>(text).unwrap_or_default().codegen;
    for function in lists.functions() {
        if !is_identifier(function.get_ref()) {
            let message = format!("'{}' is no name of a C function", function.get_ref());
            return Err(source.fault(&function.span(), message));
        }
    }
    for word in &lists.open_arguments {
        let text = word.get_ref();
        if text != "id" && !text.starts_with("option.") {
            let message = format!("a device is opened with `id` and `option.NAME`, not '{text}'");
            return Err(source.fault(&word.span(), message));
        }
    }
    let stand_in = lists.stand_in.as_deref();
    let in_place = stand_in.map_or(&[][..], |lists| &lists.sources);
    let sources: Vec<_> = lists.sources.iter().chain(in_place).map(|s| (s, Use::Source)).collect();
    let with = |headers: &[Spanned<String>]| -> Result<()> {
        let headers = headers.iter().map(|header| (header, Use::Header));
        list(source, files, headers.chain(sources.iter().copied()))
    };
    // A header of a stand-in may be among the others too, which is then the library's.
    with(&lists.headers)?;
    stand_in.map_or(Ok(()), |lists| with(&lists.headers))
}

fn list<'n>(
    source: &Source,
    files: &Files,
    names: impl Iterator<Item = (&'n Spanned<String>, Use)>,
) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (name, of) in names {
        let text = name.get_ref().as_str();
        file(source, files, &name.span(), text, of)?;
        if seen.insert(text, of).is_some() {
            return Err(source.fault(&name.span(), format!("the file '{text}' is named twice")));
        }
    }
    Ok(())
}

/// Fails at `span` unless `name` is that of a file of the target.
pub fn file(
    source: &Source,
    files: &Files,
    span: &Range<usize>,
    name: &str,
    of: Use,
) -> Result<()> {
    file_name::check(name, of).map_err(|reason| source.fault(span, reason))?;
    match files {
        Files::Embedded(_) => Ok(()),
        Files::Directory(folder) => file_name::check_place(folder, &folder.join(name))
            .map_err(|reason| source.fault(span, reason)),
    }
}

pub fn is_identifier(text: &str) -> bool {
    crate::artifact::c_identifier(text) == text
}
