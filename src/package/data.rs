//! An object file that holds data: weights and the description of the model.

use crate::{Error, Result, artifact::Object, codegen::c::tool::Tool, process::Folder};
use object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
    write,
};

/// What weights are aligned to in memory.
const ALIGNMENT: u64 = 64;

/// An object that defines read-only data under the given names: written here for the machines that
/// are known here, else assembled by the C compiler for the machine.
pub fn object(name: &str, triple: &str, symbols: &[(&str, &[u8])], cc: &str) -> Result<Object> {
    if ["darwin", "macos", "windows", "ios"].iter().any(|system| triple.contains(system)) {
        return Err(Error::unsupported(format!(
            "packages for '{triple}' are not made: only systems with ELF are supported"
        )));
    }
    let architecture = match triple.split('-').next().unwrap_or_default() {
        "x86_64" => Architecture::X86_64,
        "aarch64" | "arm64" => Architecture::Aarch64,
        _ => return assembled(name, symbols, &Tool::new(cc)?),
    };
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

/// Has the C compiler assemble the data, in the way that the GNU assembler and Clang understand.
fn assembled(name: &str, symbols: &[(&str, &[u8])], tool: &Tool) -> Result<Object> {
    let folder = Folder::new()?;
    let write = |file: &str, bytes: &[u8]| {
        let path = folder.path().join(file);
        std::fs::write(&path, bytes).map_err(|e| Error::io("cannot write", &path, e))
    };
    let mut text = String::from(".section .rodata\n");
    for (index, (symbol, data)) in symbols.iter().enumerate() {
        let file = format!("data{index}.bin");
        write(&file, data)?;
        text.push_str(&format!(
            ".global {symbol}\n.balign {ALIGNMENT}\n{symbol}:\n.incbin \"{file}\"\n"
        ));
    }
    // Without this section linkers assume that the object wants an executable stack.
    text.push_str(".section .note.GNU-stack,\"\",%progbits\n");
    write("data.s", text.as_bytes())?;
    let mut command = tool.command(folder.path());
    command.args(["-c", "data.s", "-o", "data.o"]);
    let path = folder.path().join("data.o");
    let bytes = tool.make(command, "the assembly of the weights", &path)?;
    Ok(Object { name: name.to_owned(), bytes })
}
