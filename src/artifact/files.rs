//! Typed results of code generation, kept in the IR until the package is written.

pub use super::ArtifactKind;
use crate::{
    Error, Result,
    ir::{self, Op, edit, elements, names::ARTIFACTS},
    tensor::{AlignedBuffer, BUFFER_ALIGN},
};
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, StringAttribute},
    operation::OperationLike,
    r#type::{IntegerType, RankedTensorType},
};
use serde::Serialize;

/// Types of files by their names, in which `*` stands for anything; the first that fits counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ArtifactTypes(pub Vec<(String, ArtifactKind)>);

impl ArtifactTypes {
    /// The type of a file that a program wrote. A file in a folder belongs to that folder, so that
    /// it is not linked even if it has the name of code.
    pub fn of_file(&self, name: &str, bytes: &[u8]) -> ArtifactKind {
        let declared = self.0.iter().find(|(pattern, _)| fits(pattern, name));
        declared.map_or_else(
            || match ArtifactKind::of_file(name, bytes) {
                kind if name.contains('/') && kind.is_code() => ArtifactKind::of_file("", bytes),
                kind => kind,
            },
            |(_, kind)| *kind,
        )
    }
}

/// True if a name matches a pattern with `*`.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(tail) = name.strip_prefix(start) else { return false };
    let mut ends = (0..=tail.len()).filter(|at| tail.is_char_boundary(*at));
    ends.any(|at| fits(rest, &tail[at..]))
}

/// A file that a target adds to the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// File name; a file that is not linked may have folders in front, separated by `/`.
    pub name: String,
    /// Kind of file.
    pub kind: ArtifactKind,
    /// Content.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// A file of any kind.
    pub fn new(name: impl Into<String>, kind: ArtifactKind, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), kind, bytes: bytes.into() }
    }

    /// True for a part of a folder, such as one file of a bundle.
    pub fn is_in_folder(&self) -> bool {
        self.name.contains('/')
    }

    /// Fails unless the name is that of a file and the kind one that targets make.
    pub fn check(&self) -> Result<()> {
        let fault = |reason: &str| {
            Err(Error::invalid(format!("artifact '{}' ({}) {reason}", self.name, self.kind)))
        };
        let bad = |c: char| c.is_control() || c == '\\';
        let is_name = |part: &str| !part.is_empty() && !part.starts_with(['.', '-', '@']);
        if self.name.len() > 200 || self.name.chars().any(bad) || !self.name.split('/').all(is_name)
        {
            return fault(
                "needs the name of a file: up to 200 bytes without '\\', neither it nor a folder \
                 starting with '.', '-' or '@'",
            );
        }
        // Compilers and linkers take other characters for something else.
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
        if self.kind.is_code() && !self.name.chars().all(plain) {
            return fault("needs a name of letters, digits, and . _ - + to be compiled or linked");
        }
        match self.kind {
            ArtifactKind::CSource | ArtifactKind::Header | ArtifactKind::Assembler
                if std::str::from_utf8(&self.bytes).is_err() =>
            {
                fault("is not UTF-8 text")
            }
            _ => Ok(()),
        }
    }
}

/// Adds artifacts to those that an operation carries. One that has the name of another and other
/// content is an error.
pub fn record<'c>(op: Op<'c>, artifacts: &[Artifact]) -> Result<()> {
    for artifact in artifacts {
        artifact.check()?;
        let bytes = AlignedBuffer::copy_of(&artifact.bytes)?;
        let ty = RankedTensorType::new(
            &[artifact.bytes.len() as u64],
            IntegerType::new(ir::context_of(op), 8).into(),
            None,
        );
        let data = match artifact.bytes.is_empty() {
            true => StringAttribute::new(ir::context_of(op), "").into(),
            false => elements::resource(ty.into(), &artifact.name, bytes, BUFFER_ALIGN)?,
        };
        attach(op, &artifact.name, artifact.kind, data)?;
    }
    Ok(())
}

/// Adds an artifact whose content is an elements attribute that exists already.
pub fn attach<'c>(op: Op<'c>, name: &str, kind: ArtifactKind, data: Attribute<'c>) -> Result<()> {
    let context = ir::context_of(op);
    let text = |value: &str| StringAttribute::new(context, value).into();
    let entry = edit::dictionary_attr(
        context,
        &[
            ("name".to_owned(), text(name)),
            ("kind".to_owned(), text(kind.name())),
            ("data".to_owned(), data),
        ],
    );
    merge(op, vec![entry])
}

/// Moves what `from` carries to `to`.
pub fn transfer<'c>(from: Op<'c>, to: Op<'c>) -> Result<()> {
    let Ok(list) = from.attribute(ARTIFACTS) else { return Ok(()) };
    merge(to, edit::array(list))?;
    edit::remove_attr(from, ARTIFACTS);
    Ok(())
}

fn merge<'c>(op: Op<'c>, new: Vec<Attribute<'c>>) -> Result<()> {
    let mut list = op.attribute(ARTIFACTS).map(edit::array).unwrap_or_default();
    for entry in new {
        let name = entry_text(entry, "name")?;
        let same = list.iter().find(|old| entry_text(**old, "name").is_ok_and(|n| n == name));
        match same {
            None => list.push(entry),
            Some(old) if content(*old)? == content(entry)? => {}
            Some(_) => {
                return Err(Error::invalid(format!(
                    "two artifacts of one target are called '{name}' and differ: put the name of \
                     the function into theirs"
                )));
            }
        }
    }
    let list = ArrayAttribute::new(ir::context_of(op), &list);
    edit::set_attr(op, ARTIFACTS, list.into());
    Ok(())
}

/// The artifacts that an operation carries.
pub fn recorded(op: Op<'_>) -> Result<Vec<Artifact>> {
    let list = op.attribute(ARTIFACTS).map(edit::array).unwrap_or_default();
    let read = |entry: Attribute<'_>| {
        let name = entry_text(entry, "name")?;
        let kind = entry_text(entry, "kind")?;
        let kind = ArtifactKind::named(&kind)
            .map_err(|error| Error::invalid(format!("{ARTIFACTS}: '{name}': {error}")))?;
        let artifact = Artifact { name, kind, bytes: content(entry)? };
        artifact.check()?;
        Ok(artifact)
    };
    list.into_iter().map(read).collect()
}

/// The artifacts that an operation and those in it carry.
pub fn recorded_within(op: Op<'_>) -> Result<Vec<Artifact>> {
    let mut found = recorded(op)?;
    for inner in edit::walk(op).into_iter().filter(|inner| !edit::same(*inner, op)) {
        found.extend(recorded(inner)?);
    }
    Ok(found)
}

fn field<'c>(entry: Attribute<'c>, name: &str) -> Result<Attribute<'c>> {
    let found = edit::dictionary(entry).into_iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value).ok_or_else(|| {
        Error::invalid(format!("{ARTIFACTS}: an entry is to have name, kind and data: {entry}"))
    })
}

fn entry_text(entry: Attribute<'_>, name: &str) -> Result<String> {
    let value = field(entry, name)?;
    edit::string(value)
        .ok_or_else(|| Error::invalid(format!("{ARTIFACTS}: '{name}' of an entry is not a text")))
}

fn content(entry: Attribute<'_>) -> Result<Vec<u8>> {
    let data = field(entry, "data")?;
    match edit::string(data) {
        Some(text) => Ok(text.into_bytes()),
        None => Ok(elements::bytes(data)?.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_declared_or_go_by_names_and_content() {
        let types = ArtifactTypes(vec![
            ("*.elf".into(), ArtifactKind::MemoryImage),
            ("net*part*.c".into(), ArtifactKind::Text),
        ]);
        for (name, bytes, kind) in [
            ("a.elf", &b"\xff"[..], ArtifactKind::MemoryImage),
            ("net_1_part_2.c", b"", ArtifactKind::Text),
            ("net_1.c", b"", ArtifactKind::CSource),
            ("x.S", b"", ArtifactKind::Assembler),
            ("trace.vcd", b"$end", ArtifactKind::Text),
            ("net.tflite", b"\xff\xfe", ArtifactKind::Binary),
            ("README", b"", ArtifactKind::Text),
            ("net.mlpackage/a.c", b"", ArtifactKind::Text),
            ("net.mlpackage/a.o", b"\xff", ArtifactKind::Binary),
        ] {
            assert_eq!(types.of_file(name, bytes), kind, "{name}");
        }
        assert!(fits("a*b*c", "aXbbYc") && !fits("a*b*c", "aXYc") && fits("*", ""));
    }

    #[test]
    fn names_are_those_of_files() {
        let check = |name: &str, kind| Artifact::new(name, kind, "").check().is_ok();
        for name in ["a.elf", "Überblick 1.txt", "a,b=c", "+x", "x.mlpackage/Data/x.bin"] {
            assert!(check(name, ArtifactKind::Text), "{name}");
        }
        for name in ["", ".x", "-x", "@x", "/a", "a/", "a//b", "a/../b", "a/.b", "a\\b", "a\nb"] {
            assert!(!check(name, ArtifactKind::Text), "{name}");
        }
        assert!(check("a-1.c", ArtifactKind::CSource) && !check("a b.c", ArtifactKind::CSource));
        assert!(check("a.a", ArtifactKind::StaticLibrary));
        assert!(!check("a/b.c", ArtifactKind::CSource));
    }
}
