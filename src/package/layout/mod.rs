//! Files by which other builds take a package: CMake and pkg-config in each, Zephyr, Arduino and Cargo on request.

mod arduino;
mod cmake;
mod rust;
mod zephyr;

use super::header;
use crate::{
    Result,
    artifact::{
        ArtifactKind, Compiled, Layout, Signature, has_shared_libraries, shared_library_name,
    },
};

/// Facts about a package for other builds.
pub struct About<'a> {
    /// The model, as its package describes it.
    pub signature: &'a Signature,
    /// The triple of the machine; empty for C alone.
    pub triple: &'a str,
    /// The CPU.
    pub cpu: &'a str,
    /// Arguments of the linker.
    pub link: &'a [String],
    /// True if there is a shared library, too.
    pub shared: bool,
}

impl About<'_> {
    /// The model's name.
    fn name(&self) -> &str {
        &self.signature.name
    }

    /// True if the code is for a system with a library of mathematics of its own.
    fn is_hosted(&self) -> bool {
        self.triple.is_empty() || self.triple.contains("-linux")
    }
}

/// A file of text.
pub struct File {
    /// Path in the package.
    pub path: String,
    /// Content.
    pub text: String,
    /// Kind of file.
    pub kind: ArtifactKind,
}

impl File {
    fn text(path: impl Into<String>, text: String) -> Self {
        Self { path: path.into(), text, kind: ArtifactKind::Text }
    }

    fn header(path: impl Into<String>, text: String) -> Self {
        Self { path: path.into(), text, kind: ArtifactKind::Header }
    }
}

/// A copy of the static library.
pub struct Copy {
    /// Path in the package.
    pub path: String,
}

/// The files of a package for other builds.
///
/// # Errors
/// A layout has no form for the model.
pub fn files(model: &Compiled, signature: &Signature) -> Result<(Vec<File>, Vec<Copy>)> {
    let machine = &model.machine;
    let about = About {
        signature,
        triple: &machine.triple,
        cpu: &machine.cpu,
        link: &model.link,
        shared: has_shared_libraries(&machine.triple),
    };
    let (mut files, mut copies) = (cmake::files(&about), vec![]);
    let mut layouts = model.layouts.clone();
    layouts.sort();
    layouts.dedup();
    for layout in layouts {
        match layout {
            Layout::Zephyr => files.extend(zephyr::files(&about)),
            Layout::Arduino => {
                files.extend(arduino::files(&about)?);
                copies.push(arduino::library(&about));
            }
            Layout::Crate => files.extend(rust::files(&about)?),
        }
    }
    Ok((files, copies))
}

#[cfg(test)]
mod tests;
