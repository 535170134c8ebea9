//! A vendor's objects and archives, which are linked as they are.

use super::COptions;
use crate::{Error, Result, artifact::Object};
use object::{Object as _, ObjectSymbol, read::archive::ArchiveFile};
use std::{collections::BTreeSet, path::Path};

/// A member of an archive, or an object by itself.
struct Member {
    object: Object,
    defines: BTreeSet<String>,
    uses: BTreeSet<String>,
}

/// The objects that are linked: all that are given by themselves, and of archives those that define
/// what others use, as linkers take them. `own` is the target's generated and compiled code, `roots`
/// what programs call besides.
pub fn objects(options: &COptions, own: &[Object], roots: &[&str]) -> Result<Vec<Object>> {
    if options.binaries.is_empty() {
        return Ok(vec![]);
    }
    let mut taken = vec![];
    let mut waiting = vec![];
    for (name, bytes) in &options.binaries {
        if is_archive(name) {
            waiting.extend(members(name, bytes, own)?);
        } else {
            let object = Object { name: plain(name), bytes: bytes.clone() };
            taken.push(member(name, object, own)?);
        }
    }
    let mut known = BTreeSet::new();
    let mut used: BTreeSet<String> = roots.iter().map(|name| (*name).to_owned()).collect();
    for object in own {
        let own = member(&object.name, object.clone(), &[])?;
        known.extend(own.defines);
        used.extend(own.uses);
    }
    for member in &taken {
        known.extend(member.defines.iter().cloned());
        used.extend(member.uses.iter().cloned());
    }
    let lacks = |member: &Member, used: &BTreeSet<String>, known: &BTreeSet<String>| {
        member.defines.iter().any(|name| used.contains(name) && !known.contains(name))
    };
    while let Some(at) = waiting.iter().position(|member| lacks(member, &used, &known)) {
        let member = waiting.remove(at);
        known.extend(member.defines.iter().cloned());
        used.extend(member.uses.iter().cloned());
        taken.push(member);
    }
    Ok(taken.into_iter().map(|member| member.object).collect())
}

/// True for the name of an archive.
fn is_archive(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "a")
}

/// True for a source of a manifest that is linked as it is.
pub fn is_binary(name: &str) -> bool {
    is_archive(name) || Path::new(name).extension().is_some_and(|ending| ending == "o")
}

/// The name of a file in a folder of objects.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    format!("vendor_{}", name.chars().map(plain).collect::<String>())
}

fn members(name: &str, bytes: &[u8], own: &[Object]) -> Result<Vec<Member>> {
    let fault = |reason: &dyn std::fmt::Display| {
        Error::invalid(format!("{name}: is no archive of objects that can be linked: {reason}"))
    };
    let archive = ArchiveFile::parse(bytes).map_err(|error| fault(&error))?;
    if archive.is_thin() {
        return Err(fault(&"it is thin, which has the names of objects only; make it without T"));
    }
    let mut members = vec![];
    for (index, found) in archive.members().enumerate() {
        let found = found.map_err(|error| fault(&error))?;
        let data = found.data(bytes).map_err(|error| fault(&error))?;
        let part = String::from_utf8_lossy(found.name()).into_owned();
        // Members of an archive may have one name.
        let object =
            Object { name: plain(&format!("{name}_{index}_{part}")), bytes: data.to_vec() };
        members.push(member(&format!("{name}({part})"), object, own)?);
    }
    Ok(members)
}

/// Reads the symbols that an object defines and uses; it has to be for the machine of the target's
/// own code.
fn member(shown: &str, object: Object, own: &[Object]) -> Result<Member> {
    let fault = |reason: String| Error::invalid(format!("{shown}: {reason}"));
    let file = object::File::parse(&*object.bytes)
        .map_err(|error| fault(format!("is no object file that can be linked: {error}")))?;
    let machine = |file: &object::File<'_>| (file.architecture(), file.is_64(), file.endianness());
    if let Some(first) = own.first() {
        let model = object::File::parse(&*first.bytes)
            .map_err(|error| Error::internal(format!("{}: {error}", first.name)))?;
        if machine(&model) != machine(&file) {
            return Err(fault(format!(
                "is for {:?} with {} bits, and the target's code is for {:?} with {}: give an object \
                 that was compiled for the same machine",
                file.architecture(),
                if file.is_64() { 64 } else { 32 },
                model.architecture(),
                if model.is_64() { 64 } else { 32 },
            )));
        }
    }
    let (mut defines, mut uses) = (BTreeSet::new(), BTreeSet::new());
    for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
        let Ok(name) = symbol.name() else { continue };
        let list = if symbol.is_undefined() { &mut uses } else { &mut defines };
        list.insert(name.to_owned());
    }
    Ok(Member { object, defines, uses })
}
