//! An object file that holds data: weights and the description of the model.

use crate::{Error, Result, codegen::llvm::Object};
use object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
    write,
};

/// What weights are aligned to in memory.
const ALIGNMENT: u64 = 64;

/// An ELF object that defines read-only data under the given names.
pub fn object(name: &str, triple: &str, symbols: &[(&str, &[u8])]) -> Result<Object> {
    let architecture = match triple.split('-').next().unwrap_or_default() {
        "x86_64" => Architecture::X86_64,
        "aarch64" | "arm64" => Architecture::Aarch64,
        _ => return Err(Error::unsupported(format!("no object files are written for '{triple}'"))),
    };
    if ["darwin", "macos", "windows", "ios"].iter().any(|system| triple.contains(system)) {
        return Err(Error::unsupported(format!(
            "packages for '{triple}' are not made: only systems with ELF are supported"
        )));
    }
    let mut file = write::Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
    for (symbol, data) in symbols {
        let section = format!(".rodata.{symbol}").into_bytes();
        let section = file.add_section(vec![], section, SectionKind::ReadOnlyData);
        let id = file.add_symbol(write::Symbol {
            name: symbol.as_bytes().to_vec(),
            value: 0,
            size: 0,
            kind: SymbolKind::Data,
            scope: SymbolScope::Dynamic,
            weak: false,
            section: write::SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
        file.add_symbol_data(id, section, data, ALIGNMENT);
    }
    // Without this section linkers assume that the object wants an executable stack.
    file.add_section(vec![], b".note.GNU-stack".to_vec(), SectionKind::Other);
    let bytes = file.write().map_err(|e| Error::internal(format!("cannot write {name}: {e}")))?;
    Ok(Object { name: name.to_owned(), bytes })
}
