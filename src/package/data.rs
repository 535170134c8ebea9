//! An object file that holds data: weights and the description of the model.

use super::archive;
use crate::{Error, Result, artifact::Object, codegen::c::tool::Tool, process::Folder};
use object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
    write,
};
use std::io::{self, Write};

/// Alignment of weights in memory.
pub const ALIGNMENT: u64 = 64;

/// Read-only data.
pub struct Data<'a> {
    /// Symbol of the data.
    pub symbol: &'a str,
    /// Content.
    pub bytes: &'a [u8],
    /// Alignment in bytes.
    pub alignment: u64,
    /// True if a linker script can place it by itself, on every machine.
    pub apart: bool,
}

impl Default for Data<'_> {
    fn default() -> Self {
        Self { symbol: "", bytes: &[], alignment: ALIGNMENT, apart: false }
    }
}

/// An object file that defines read-only data. The data is not copied until it is written.
pub struct DataObject<'a> {
    /// File name.
    pub name: String,
    content: Content<'a>,
}

enum Content<'a> {
    /// To be written here, for a machine that is known here.
    Ours(Box<write::Object<'a>>, Vec<String>),
    /// Object that the C compiler assembled.
    Assembled(Vec<u8>),
}

impl<'a> DataObject<'a> {
    /// The object that defines data under the given names: written here for the machines that
    /// are known here, else assembled by the C compiler for the machine.
    pub fn new(name: &str, triple: &str, symbols: &[Data<'a>], cc: &str) -> Result<Self> {
        if ["darwin", "macos", "windows", "ios"].iter().any(|system| triple.contains(system)) {
            return Err(Error::unsupported(format!(
                "packages for '{triple}' are not made: only systems with ELF are supported"
            )));
        }
        let content = match triple.split('-').next().unwrap_or_default() {
            "x86_64" => elf(Architecture::X86_64, symbols),
            "aarch64" | "arm64" => elf(Architecture::Aarch64, symbols),
            _ => Content::Assembled(assembled(symbols, &Tool::new(cc)?)?),
        };
        Ok(Self { name: name.to_owned(), content })
    }

    /// The symbols that it defines.
    pub fn symbols(&self) -> Result<Vec<String>> {
        match &self.content {
            Content::Ours(_, symbols) => Ok(symbols.clone()),
            Content::Assembled(bytes) => archive::defined_symbols(&self.name, bytes),
        }
    }

    /// Bytes of the file.
    pub fn size(&self) -> Result<usize> {
        let mut counted = Counted(0);
        self.write(&mut counted)
            .map_err(|e| Error::internal(format!("cannot write {}: {e}", self.name)))?;
        Ok(counted.0)
    }

    /// Writes the file.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.content {
            Content::Ours(file, _) => {
                let mut stream = write::StreamingBuffer::new(out);
                let made = file.emit(&mut stream);
                stream.result()?;
                made.map_err(io::Error::other)
            }
            Content::Assembled(bytes) => out.write_all(bytes),
        }
    }

    /// The file in memory.
    pub fn into_object(self) -> Result<Object> {
        let bytes = match self.content {
            Content::Ours(file, _) => file
                .write()
                .map_err(|e| Error::internal(format!("cannot write {}: {e}", self.name)))?,
            Content::Assembled(bytes) => bytes,
        };
        Ok(Object { name: self.name, bytes })
    }
}

/// Counts what is written.
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn elf<'a>(architecture: Architecture, symbols: &[Data<'a>]) -> Content<'a> {
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
    let names = symbols.iter().map(|data| data.symbol.to_owned()).collect();
    Content::Ours(Box::new(file), names)
}

/// Has the C compiler assemble the data, in the way that the GNU assembler and Clang understand.
fn assembled(symbols: &[Data<'_>], tool: &Tool) -> Result<Vec<u8>> {
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
    tool.make_and_read(command, "the assembly of the weights", &path)
}
