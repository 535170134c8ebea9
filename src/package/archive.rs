//! Static libraries in the format of GNU ar, without times, owners or other traces of the machine.

use super::data::DataObject;
use crate::{Error, Result, artifact::Object};
use object::{Object as _, ObjectSymbol};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

/// Writes an archive of object files and data, with an index of their symbols, to `path`.
pub fn write(path: &Path, objects: &[&Object], data: &DataObject<'_>) -> Result<()> {
    let members =
        objects.iter().map(|object| Member::of_object(object)).collect::<Result<Vec<_>>>()?;
    let archive = Archive::new(members.into_iter().chain([Member::of_data(data)?]).collect())?;
    let fail = |e| Error::io("cannot write", path, e);
    // Written bytes are not in memory a second time.
    let mut file = BufWriter::new(File::create(path).map_err(fail)?);
    archive.write(&mut file).and_then(|()| file.flush()).map_err(fail)
}

/// A file of the archive.
struct Member<'a> {
    name: &'a str,
    symbols: Vec<String>,
    size: usize,
    content: Content<'a>,
}

enum Content<'a> {
    Object(&'a Object),
    Data(&'a DataObject<'a>),
}

impl<'a> Member<'a> {
    fn of_object(object: &'a Object) -> Result<Self> {
        let Object { name, bytes } = object;
        let symbols = defined_symbols(name, bytes)?;
        Ok(Self { name, symbols, size: bytes.len(), content: Content::Object(object) })
    }

    fn of_data(data: &'a DataObject<'a>) -> Result<Self> {
        let (symbols, size) = (data.symbols()?, data.size()?);
        Ok(Self { name: &data.name, symbols, size, content: Content::Data(data) })
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self.content {
            Content::Object(object) => out.write_all(&object.bytes),
            Content::Data(data) => data.write(out),
        }
    }
}

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

struct Archive<'a> {
    members: Vec<Member<'a>>,
    /// The symbols, with the offsets of the members that define them.
    index: Vec<u8>,
    /// Names that do not fit the header's 15 characters are in a table of their own.
    long_names: String,
    names: Vec<String>,
}

impl<'a> Archive<'a> {
    fn new(members: Vec<Member<'a>>) -> Result<Self> {
        let mut long_names = String::new();
        let mut names = vec![];
        for Member { name, .. } in &members {
            if name.len() <= 15 {
                names.push(format!("{name}/"));
            } else {
                names.push(format!("/{}", long_names.len()));
                long_names.push_str(name);
                long_names.push_str("/\n");
            }
        }
        let symbols = || members.iter().flat_map(|member| &member.symbols);
        let count = symbols().count();
        let text: usize = symbols().map(|name| name.len() + 1).sum();
        let padded = |size: usize| size + size % 2;
        let mut offset = MAGIC.len() + HEADER + padded(4 + 4 * count + text);
        if !long_names.is_empty() {
            offset += HEADER + padded(long_names.len());
        }
        let mut index = vec![];
        index.extend_from_slice(&big_endian(count)?);
        let mut strings = vec![];
        for Member { symbols, size, .. } in &members {
            for symbol in symbols {
                index.extend_from_slice(&big_endian(offset)?);
                strings.extend_from_slice(symbol.as_bytes());
                strings.push(0);
            }
            offset += HEADER + padded(*size);
        }
        index.extend_from_slice(&strings);
        Ok(Self { members, index, long_names, names })
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        entry(out, "/", self.index.len(), |out| out.write_all(&self.index))?;
        if !self.long_names.is_empty() {
            let bytes = self.long_names.as_bytes();
            entry(out, "//", bytes.len(), |out| out.write_all(bytes))?;
        }
        let mut members = self.members.iter().zip(&self.names);
        members
            .try_for_each(|(member, name)| entry(out, name, member.size, |out| member.write(out)))
    }
}

fn big_endian(value: usize) -> Result<[u8; 4]> {
    u32::try_from(value)
        .map(u32::to_be_bytes)
        .map_err(|_| Error::unsupported("the model is too large for a static library (4 GiB)"))
}

fn entry<W: Write>(
    out: &mut W,
    name: &str,
    size: usize,
    content: impl FnOnce(&mut W) -> io::Result<()>,
) -> io::Result<()> {
    writeln!(out, "{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`", 0, 0, 0, 644)?;
    content(out)?;
    out.write_all(if size % 2 == 1 { b"\n" } else { b"" })
}

/// The symbols that an object file defines for others.
pub(super) fn defined_symbols(name: &str, bytes: &[u8]) -> Result<Vec<String>> {
    let file = object::File::parse(bytes)
        .map_err(|e| Error::internal(format!("{name} is not an object file: {e}")))?;
    Ok(file
        .symbols()
        .filter(|symbol| symbol.is_global() && symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect())
}
