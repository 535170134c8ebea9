//! An object file that holds data: weights and the description of the model.

use crate::{Error, Result, artifact::Object, codegen::c::tool::Tool, process::Folder};
use object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
    write,
};

/// What weights are aligned to in memory.
pub const ALIGNMENT: u64 = 64;

/// Read-only data.
pub struct Data<'a> {
    /// Its symbol.
    pub symbol: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What it is aligned to.
    pub alignment: u64,
    /// Whether a linker script can place it by itself, on every machine.
    pub apart: bool,
}

impl Default for Data<'_> {
    fn default() -> Self {
        Self { symbol: "", bytes: &[], alignment: ALIGNMENT, apart: false }
    }
}

/// An object that defines read-only data under the given names: written here for the machines that
/// are known here, else assembled by the C compiler for the machine.
pub fn object(name: &str, triple: &str, symbols: &[Data<'_>], cc: &str) -> Result<Object> {
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
    for Data { symbol, bytes, alignment, .. } in symbols {
        let section = format!(".rodata.{symbol}").into_bytes();
        let section = file.add_section(vec![], section, SectionKind::ReadOnlyData);
        // Not copied, unlike what is added piece by piece.
        file.section_mut(section).set_data(*bytes, *alignment);
        file.add_symbol(write::Symbol {
            name: symbol.as_bytes().to_vec(),
            value: 0,
            size: bytes.len() as u64,
            kind: SymbolKind::Data,
            scope: SymbolScope::Dynamic,
            weak: false,
            section: write::SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
    }
    // Without this section linkers assume that the object wants an executable stack.
    file.add_section(vec![], b".note.GNU-stack".to_vec(), SectionKind::Other);
    let bytes = file.write().map_err(|e| Error::internal(format!("cannot write {name}: {e}")))?;
    Ok(Object { name: name.to_owned(), bytes })
}

/// Has the C compiler assemble the data, in the way that the GNU assembler and Clang understand.
fn assembled(name: &str, symbols: &[Data<'_>], tool: &Tool) -> Result<Object> {
    let folder = Folder::new()?;
    let write = |file: &str, bytes: &[u8]| {
        let path = folder.path().join(file);
        std::fs::write(&path, bytes).map_err(|e| Error::io("cannot write", &path, e))
    };
    let mut text = String::new();
    for (index, Data { symbol, bytes, alignment, apart }) in symbols.iter().enumerate() {
        let file = format!("data{index}.bin");
        write(&file, bytes)?;
        let section = match apart {
            true => format!(".section .rodata.{symbol},\"a\""),
            false => ".section .rodata".to_owned(),
        };
        text.push_str(&format!(
            "{section}\n.global {symbol}\n.balign {alignment}\n{symbol}:\n.incbin \"{file}\"\n"
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
