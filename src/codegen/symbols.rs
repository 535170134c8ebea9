//! Names of the functions and variables of a vendor's C, one set for each target of a compile.
//!
//! Two targets of a kind have two copies of the vendor's C, compiled with flags of their own and
//! with static variables of their own. So have two models in one program. Symbols that a copy
//! defines get the model's and the target's name in front: `my_conv` of target `a` in model `net`
//! becomes `net_a__my_conv`. That holds in the objects that define it and in those of the same
//! target that use it. The plain name stays as a weak one with the first target that has it, for
//! programs that call it.

use crate::{
    Error, Result,
    artifact::{Object, own_prefix},
};
use object::{
    Endianness, FileKind, Object as _, ObjectSection, ObjectSymbol, SectionFlags, Symbol, elf,
    pod::bytes_of_slice,
    read::elf::{FileHeader, SectionHeader, Sym},
};
use std::collections::{BTreeMap, BTreeSet};

/// Plain names of what the objects of a target define, and the names that are linked.
pub type Renamed = BTreeMap<String, String>;

/// Gives what `objects`, all of target `id`, define names of the target's own, but for those in
/// `kept`, which other targets call. Plain names that objects in `earlier` have go.
pub fn separate(
    objects: &mut [Object],
    (model, id): (&str, &str),
    kept: &BTreeSet<String>,
    earlier: &[Object],
) -> Result<Renamed> {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    for object in objects.iter() {
        for name in definitions(object)?.into_iter().filter(|name| !kept.contains(name)) {
            if let Some(other) = owners.insert(name.clone(), object.name.clone()) {
                return Err(Error::invalid(format!(
                    "target '{id}': {other} and {} both define '{name}'; rename one, or make it \
                     static",
                    object.name
                )));
            }
        }
    }
    let prefix = own_prefix(model, id);
    let names: Renamed =
        owners.into_keys().map(|name| (name.clone(), format!("{prefix}{name}"))).collect();
    let mut weak: BTreeSet<_> = names.keys().cloned().collect();
    for object in earlier {
        let parsed = parse(object)?;
        let defined = parsed.symbols().filter(|symbol| symbol.is_global() && is_defined(symbol));
        for symbol in defined {
            weak.remove(symbol.name().unwrap_or_default());
        }
    }
    for object in objects {
        object.bytes = rename(&object.bytes, &names, &weak).map_err(|reason| {
            Error::invalid(format!("target '{id}': {}: {reason}", object.name))
        })?;
    }
    Ok(names)
}

/// Gives calls of functions that are in no target's sources, but in a library that is linked, their
/// plain names: `net_a__f` of target `a` becomes `f` where no object defines it. Gives both names.
pub fn link_libraries(objects: &mut [Object], model: &str, ids: &[&str]) -> Result<Renamed> {
    let prefixes: Vec<String> = ids.iter().map(|id| own_prefix(model, id)).collect();
    let mut defined = BTreeSet::new();
    let mut used = BTreeSet::new();
    for object in objects.iter() {
        for symbol in parse(object)?.symbols().filter(|symbol| symbol.is_global()) {
            let name = symbol.name().unwrap_or_default().to_owned();
            if is_defined(&symbol) {
                defined.insert(name)
            } else {
                used.insert(name)
            };
        }
    }
    let plain = |name: &String| {
        let found = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str()))?;
        Some((name.clone(), found.to_owned()))
    };
    let missing: Renamed = used.difference(&defined).filter_map(plain).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    for object in objects {
        let renamed = rename(&object.bytes, &missing, &BTreeSet::new());
        object.bytes =
            renamed.map_err(|reason| Error::invalid(format!("{}: {reason}", object.name)))?;
    }
    Ok(missing)
}

/// Removes plain names that one target defines and that another one means as a library's. Those in
/// `inline` are called by the host's code. Others are used by objects of a target that `links` a
/// library, and not defined there. A weak symbol of another target's stand-in would come before the
/// library.
pub fn leave_to_libraries(
    objects: &mut [Object],
    parts: &[(String, usize)],
    inline: &Renamed,
    links: impl Fn(&str) -> bool,
) -> Result<()> {
    let mut wanted: BTreeSet<String> = inline.values().cloned().collect();
    let mut rest = objects.iter();
    for (id, count) in parts {
        let own: Vec<&Object> = rest.by_ref().take(*count).collect();
        if !links(id) {
            continue;
        }
        let (mut defined, mut used) = (BTreeSet::new(), BTreeSet::new());
        for object in own {
            for symbol in parse(object)?.symbols().filter(|symbol| symbol.is_global()) {
                let names = if is_defined(&symbol) { &mut defined } else { &mut used };
                names.insert(symbol.name().unwrap_or_default().to_owned());
            }
        }
        wanted.extend(used.difference(&defined).cloned());
    }
    for object in objects {
        let second: BTreeSet<String> =
            second_names(object)?.into_iter().filter(|name| wanted.contains(name)).collect();
        if !second.is_empty() {
            undefine(&mut object.bytes, &second)
                .map_err(|reason| Error::invalid(format!("{}: {reason}", object.name)))?;
        }
    }
    Ok(())
}

/// The weak names in an object of what has another name, too.
fn second_names(object: &Object) -> Result<Vec<String>> {
    let file = parse(object)?;
    let place = |symbol: &Symbol<'_, '_>| (symbol.section_index(), symbol.address());
    let defined = || file.symbols().filter(|symbol| symbol.is_global() && is_defined(symbol));
    let first: Vec<_> =
        defined().filter(|symbol| !symbol.is_weak()).map(|symbol| place(&symbol)).collect();
    let second = defined().filter(|symbol| symbol.is_weak() && first.contains(&place(symbol)));
    Ok(second.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect())
}

/// Fails if two targets' objects define the same symbol for the linker; `parts` says for each
/// target how many of the objects are its.
pub fn check_distinct(objects: &[Object], parts: &[(String, usize)]) -> Result<()> {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    let mut rest = objects.iter();
    for (id, count) in parts {
        for object in rest.by_ref().take(*count) {
            for name in definitions(object)? {
                let Some(other) = owners.insert(name.clone(), id) else { continue };
                return Err(Error::invalid(format!(
                    "targets '{other}' and '{id}' both define the symbol '{name}' ({}): give one \
                     of them another name, or make it static",
                    object.name
                )));
            }
        }
    }
    Ok(())
}

/// A C header that gives the same names where the sources of a package are compiled by hand, with
/// the command for it.
pub fn header(names: &Renamed, command: &str) -> String {
    let pragmas: String = names
        .iter()
        .map(|(plain, name)| format!("#pragma redefine_extname {plain} {name}\n"))
        .collect();
    format!(
        "/* Generated by Phaseline; do not edit. Names that keep this target's C apart from that of\n \
         * others in a program. In the folder of the package:\n *\n *     {}\n */\n{pragmas}",
        command.replace("*/", "* /")
    )
}

/// Prefix of the names that Clang's address sanitizer defines in every object, for the linker to
/// make one of.
const SANITIZER: &str = "___asan_";

/// Names of what an object defines for others, apart from weak symbols, which may be replaced, and
/// what linkers take once out of several (COMDAT).
pub fn definitions(object: &Object) -> Result<Vec<String>> {
    let file = parse(object)?;
    let grouped = |symbol: &Symbol<'_, '_>| {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        section.is_some_and(|section| match section.flags() {
            SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(elf::SHF_GROUP),
            _ => false,
        })
    };
    let symbols = file.symbols().filter(|symbol| {
        symbol.is_global() && !symbol.is_weak() && is_defined(symbol) && !grouped(symbol)
    });
    let names = symbols.filter_map(|symbol| symbol.name().ok());
    Ok(names.filter(|name| !name.starts_with(SANITIZER)).map(str::to_owned).collect())
}

/// A symbol that is used, but no object defines: `entry`, or one that starts with one of the prefixes.
pub fn missing(objects: &[Object], entry: &str, prefixes: &[String]) -> Result<Option<String>> {
    let (mut used, mut defined) = (BTreeSet::from([entry.to_owned()]), BTreeSet::new());
    for object in objects {
        for symbol in parse(object)?.symbols().filter(|symbol| symbol.is_global()) {
            let Ok(name) = symbol.name() else { continue };
            if is_defined(&symbol) {
                defined.insert(name.to_owned());
            } else if !symbol.is_weak() && prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                used.insert(name.to_owned());
            }
        }
    }
    Ok(used.into_iter().find(|name| !defined.contains(name)))
}

/// The other names that a symbol of the objects has.
pub fn other_names(objects: &[Object], name: &str) -> Vec<String> {
    let place = |symbol: &Symbol<'_, '_>| (symbol.section_index(), symbol.address());
    for file in objects.iter().filter_map(|object| parse(object).ok()) {
        let defined = || file.symbols().filter(|symbol| symbol.is_global() && is_defined(symbol));
        let Some(found) = defined().find(|symbol| symbol.name() == Ok(name)) else { continue };
        return defined()
            .filter(|symbol| place(symbol) == place(&found))
            .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
            .filter(|other| other != name)
            .collect();
    }
    vec![]
}

/// True if an object is for a machine that has the highest byte of a word first.
pub fn is_big_endian(object: &Object) -> bool {
    parse(object).is_ok_and(|file| !file.is_little_endian())
}

fn parse(object: &Object) -> Result<object::File<'_>> {
    object::File::parse(&*object.bytes).map_err(|error| {
        let name = &object.name;
        Error::invalid(format!("{name}: is no object file that can be linked: {error}"))
    })
}

fn is_defined(symbol: &Symbol<'_, '_>) -> bool {
    !symbol.is_undefined()
}

/// The object with other names for its global symbols; names in `weak` that it defines stay as weak
/// symbols besides. Objects of formats other than ELF stay as they are.
fn rename(bytes: &[u8], names: &Renamed, weak: &BTreeSet<String>) -> Result<Vec<u8>, String> {
    let renamed = match FileKind::parse(bytes) {
        Ok(FileKind::Elf32) => {
            rename_elf::<elf::FileHeader32<Endianness>>(bytes, names, weak, &LAYOUT_32)
        }
        Ok(FileKind::Elf64) => {
            rename_elf::<elf::FileHeader64<Endianness>>(bytes, names, weak, &LAYOUT_64)
        }
        _ => return Ok(bytes.to_vec()),
    };
    renamed.map_err(|error| format!("its symbols cannot be renamed: {error}"))
}

/// Removes definitions of these names from an object. Nothing in it refers to them.
fn undefine(bytes: &mut [u8], names: &BTreeSet<String>) -> Result<(), String> {
    let places = match FileKind::parse(&*bytes) {
        Ok(FileKind::Elf32) => {
            section_numbers::<elf::FileHeader32<Endianness>>(bytes, names, &LAYOUT_32)
        }
        Ok(FileKind::Elf64) => {
            section_numbers::<elf::FileHeader64<Endianness>>(bytes, names, &LAYOUT_64)
        }
        _ => return Ok(()),
    };
    let places = places.map_err(|error| format!("its symbols cannot be read: {error}"))?;
    // Section 0 is none.
    for place in places {
        bytes.iter_mut().skip(place).take(2).for_each(|byte| *byte = 0);
    }
    Ok(())
}

/// Positions in a file of the section numbers of symbols.
fn section_numbers<E: FileHeader<Endian = Endianness>>(
    bytes: &[u8],
    names: &BTreeSet<String>,
    layout: &Layout,
) -> object::read::Result<Vec<usize>> {
    let file = E::parse(bytes)?;
    let endian = file.endian()?;
    let sections = file.sections(endian, bytes)?;
    let table = sections.symbols(endian, bytes, elf::SHT_SYMTAB)?;
    let start: u64 = sections.section(table.section())?.sh_offset(endian).into();
    let size = bytes_of_slice(table.symbols()).len() / table.len().max(1);
    let mut found = vec![];
    for (index, symbol) in table.symbols().iter().enumerate() {
        let name = String::from_utf8_lossy(table.symbol_name(endian, symbol)?).into_owned();
        if !symbol.is_local() && names.contains(&name) {
            // `st_other` is between.
            found.push(start as usize + index * size + layout.st_info + 2);
        }
    }
    Ok(found)
}

/// Sizes and offsets of the fields that change.
struct Layout {
    /// Bytes of an address.
    word: usize,
    /// Offset of `sh_offset` in a section header, which `sh_size` follows.
    sh_offset: usize,
    /// Offset of `st_info` in a symbol; `st_name` is first.
    st_info: usize,
}

const LAYOUT_32: Layout = Layout { word: 4, sh_offset: 16, st_info: 12 };
const LAYOUT_64: Layout = Layout { word: 8, sh_offset: 24, st_info: 4 };

/// Writes a new table of symbols and of their names behind all else. Symbols keep their numbers, by
/// which the rest of the file refers to them; weak ones are added behind them.
fn rename_elf<E: FileHeader<Endian = Endianness>>(
    bytes: &[u8],
    names: &Renamed,
    weak: &BTreeSet<String>,
    layout: &Layout,
) -> object::read::Result<Vec<u8>> {
    let file = E::parse(bytes)?;
    let endian = file.endian()?;
    let sections = file.sections(endian, bytes)?;
    let table = sections.symbols(endian, bytes, elf::SHT_SYMTAB)?;
    if table.is_empty() {
        return Ok(bytes.to_vec());
    }
    let mut symbols = bytes_of_slice(table.symbols()).to_vec();
    let size = symbols.len() / table.len();
    let texts = sections.section(table.string_section())?.data(endian, bytes)?;
    let mut texts = texts.to_vec();
    let mut added = vec![];
    for (index, symbol) in table.symbols().iter().enumerate() {
        let name = String::from_utf8_lossy(table.symbol_name(endian, symbol)?).into_owned();
        let Some(other) = names.get(&name).filter(|_| !symbol.is_local()) else { continue };
        let entry = index * size..(index + 1) * size;
        let defined = !symbol.is_undefined(endian) && !symbol.is_common(endian);
        if defined && weak.contains(&name) {
            let mut copy = symbols[entry.clone()].to_vec();
            copy[layout.st_info] = (copy[layout.st_info] & 0xf) | WEAK;
            added.extend(copy);
        }
        put(&mut symbols[entry], texts.len(), 4, endian);
        texts.extend(other.bytes().chain([0]));
    }
    symbols.extend(added);
    let mut out = bytes.to_vec();
    let header = |index: object::SectionIndex| {
        let start: u64 = file.e_shoff(endian).into();
        start as usize + index.0 * usize::from(file.e_shentsize(endian)) + layout.sh_offset
    };
    for (index, data) in [(table.section(), symbols), (table.string_section(), texts)] {
        out.resize(out.len().next_multiple_of(8), 0);
        let place = header(index);
        let start = out.len();
        put(&mut out[place..], start, layout.word, endian);
        put(&mut out[place + layout.word..], data.len(), layout.word, endian);
        out.extend(data);
    }
    Ok(out)
}

/// The binding of a weak symbol, as `st_info` has it.
const WEAK: u8 = 2 << 4;

/// Writes a number of `width` bytes to the start of `out`.
fn put(out: &mut [u8], value: usize, width: usize, endian: Endianness) {
    let little = (value as u64).to_le_bytes();
    for (place, byte) in little[..width].iter().enumerate() {
        out[if endian == Endianness::Little { place } else { width - 1 - place }] = *byte;
    }
}
