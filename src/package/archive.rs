//! Static libraries in the format of GNU ar, without times, owners or other traces of the machine.

use crate::{Error, Result, artifact::Object};
use object::{Object as _, ObjectSymbol};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

/// Writes an archive of object files, with an index of their symbols, to `path`.
pub fn write(path: &Path, objects: &[Object]) -> Result<()> {
    let fail = |e| Error::io("cannot write", path, e);
    // What has been written is not in memory a second time.
    let mut file = BufWriter::new(File::create(path).map_err(fail)?);
    write_to(&mut file, objects)?.and_then(|()| file.flush()).map_err(fail)
}

/// The outer error is about the objects, the inner one about what is written to.
fn write_to(out: &mut impl Write, objects: &[Object]) -> Result<io::Result<()>> {
    // Names that do not fit the header's 15 characters are in a table of their own.
    let mut long_names = String::new();
    let mut names = vec![];
    for object in objects {
        if object.name.len() <= 15 {
            names.push(format!("{}/", object.name));
        } else {
            names.push(format!("/{}", long_names.len()));
            long_names.push_str(&object.name);
            long_names.push_str("/\n");
        }
    }
    let symbols: Vec<Vec<String>> = objects.iter().map(defined_symbols).collect::<Result<_>>()?;
    let count: usize = symbols.iter().map(Vec::len).sum();
    let text: usize = symbols.iter().flatten().map(|name| name.len() + 1).sum();
    let index_size = 4 + 4 * count + text;
    const MAGIC: &[u8] = b"!<arch>\n";
    const HEADER: usize = 60;
    let padded = |size: usize| size + size % 2;
    let mut offset = MAGIC.len() + HEADER + padded(index_size);
    if !long_names.is_empty() {
        offset += HEADER + padded(long_names.len());
    }
    let mut index = vec![];
    index.extend_from_slice(&big_endian(count)?);
    let mut strings = vec![];
    for (object, symbols) in objects.iter().zip(&symbols) {
        for symbol in symbols {
            index.extend_from_slice(&big_endian(offset)?);
            strings.extend_from_slice(symbol.as_bytes());
            strings.push(0);
        }
        offset += HEADER + padded(object.bytes.len());
    }
    index.extend_from_slice(&strings);
    let mut members = || -> io::Result<()> {
        out.write_all(MAGIC)?;
        member(out, "/", &index)?;
        if !long_names.is_empty() {
            member(out, "//", long_names.as_bytes())?;
        }
        objects.iter().zip(&names).try_for_each(|(object, name)| member(out, name, &object.bytes))
    };
    Ok(members())
}

fn big_endian(value: usize) -> Result<[u8; 4]> {
    u32::try_from(value)
        .map(u32::to_be_bytes)
        .map_err(|_| Error::unsupported("the model is too large for a static library (4 GiB)"))
}

fn member(out: &mut impl Write, name: &str, data: &[u8]) -> io::Result<()> {
    writeln!(out, "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 0, 644, data.len())?;
    out.write_all(data)?;
    out.write_all(if data.len() % 2 == 1 { b"\n" } else { b"" })
}

fn defined_symbols(object: &Object) -> Result<Vec<String>> {
    let file = object::File::parse(&object.bytes[..])
        .map_err(|e| Error::internal(format!("{} is not an object file: {e}", object.name)))?;
    Ok(file
        .symbols()
        .filter(|symbol| symbol.is_global() && symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect())
}
