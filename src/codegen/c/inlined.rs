//! Bodies of other targets' headers in the code of a host: `static inline` functions, macros, intrinsics.
//!
//! A macro is no function, and a name may be taken. So the host calls a function of a name of its own, which a
//! generated header defines around the vendor's name, with the types and numbers of the call:
//!
//! ```c
//! #include "unit/unit.h"
//! PHL_INLINE void net_unit__unit_add16(const float *a0, const float *a1, float *restrict a2) { unit_add16(a0, a1, a2); }
//! ```
//! The C of a host includes that header; for a host through LLVM Clang makes IR of it.

use super::{
    scalar::{self, CType},
    writer::c_type,
};
use crate::{
    Error, Result,
    artifact::own_prefix,
    identifier::c_identifier,
    ir::{
        self, Builder, Op,
        call_extern::{CallExtern, Group, SCRATCH_OUT, arg_of, is_null},
        edit, names,
    },
    pass::{PassError, PassResult},
};
use melior::ir::{
    Attribute, Type, TypeLike, ValueLike, attribute::StringAttribute, operation::OperationLike,
    r#type::IntegerType,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The folder of these headers where they are compiled.
pub const FOLDER: &str = ".inline";

/// The declarations of the functions.
pub const MACRO: &str = "PHL_INLINE";

/// A generated header, and what it includes.
#[derive(Clone, Debug, Default)]
pub struct Inlined {
    /// The target whose headers have the bodies.
    pub target: String,
    /// The Clang that makes IR of them.
    pub clang: String,
    /// Name and text of the generated header.
    pub header: (String, String),
    /// Headers of the target by name.
    pub headers: Vec<(String, String)>,
    /// Folders that other headers are looked for in.
    pub include_dirs: Vec<PathBuf>,
    /// Flags for the target's C.
    pub flags: Vec<String>,
}

impl Inlined {
    /// Writes all headers into a folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let (name, text) = &self.header;
        let own = self.headers.iter().map(|(name, text)| (format!("{}/{name}", self.target), text));
        for (name, text) in own.chain([(name.clone(), text)]) {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|e| Error::io("cannot create", parent, e))?;
            }
            fs::write(&path, text).map_err(|e| Error::io("cannot write", &path, e))?;
        }
        Ok(())
    }

    /// Flags for them in the folder above [`FOLDER`]. Vendors' headers keep to warnings of
    /// their own.
    pub fn arguments(&self) -> Vec<String> {
        let folder = |folder: String| ["-isystem".to_owned(), folder];
        let own = [FOLDER.to_owned(), format!("{FOLDER}/{}", self.target)];
        let dirs = self.include_dirs.iter().map(|dir| dir.display().to_string());
        own.into_iter().chain(dirs).flat_map(folder).chain(self.flags.iter().cloned()).collect()
    }
}

/// The same for C that has several of them.
pub fn arguments(all: &[Inlined]) -> Vec<String> {
    let mut found = all.iter().flat_map(Inlined::arguments).collect::<Vec<_>>();
    // Integers without sign are those with one in the code around.
    found.extend((!all.is_empty()).then(|| "-Wno-pointer-sign".to_owned()));
    found
}

/// Fails if headers are not to be in one file of C.
pub fn check_together(all: &[Inlined]) -> Result<()> {
    for (index, one) in all.iter().enumerate() {
        for other in all.iter().skip(index + 1) {
            let shared =
                one.headers.iter().find(|(name, _)| other.headers.iter().any(|(o, _)| o == name));
            if let Some((name, _)) = shared
                && (one.flags != other.flags || one.headers != other.headers)
            {
                return Err(Error::unsupported(format!(
                    "targets '{}' and '{}' both have inline calls of what their headers '{name}' have, which differ, \
                     or are compiled with other flags: one file of C includes both; take the host llvm, or leave \
                     out inline",
                    one.target, other.target
                )));
            }
        }
    }
    Ok(())
}

/// Targets and texts of the generated headers of a host's module, with their names.
pub fn of(module: Op<'_>, model: &str) -> Vec<(String, (String, String))> {
    let Ok(all) = module.attribute(names::C_INLINE) else { return vec![] };
    let text = |(target, text): (String, Attribute<'_>)| {
        let name = header_name(model, &target);
        Some((target, (name, edit::string(text)?)))
    };
    edit::dictionary(all).into_iter().filter_map(text).collect()
}

fn header_name(model: &str, target: &str) -> String {
    format!("{model}_{}_inline.h", c_identifier(target))
}

/// Replaces calls of functions whose bodies are in headers by calls of functions around these, and
/// writes the functions on the module.
pub fn outline<'c>(module: Op<'c>, model: &str) -> PassResult<'c> {
    let context = ir::context_of(module);
    let mut files: BTreeMap<String, File> = BTreeMap::new();
    for op in edit::walk(module) {
        let headers = ir::attr_strs(op, names::INLINE_HEADERS);
        let (Some(target), Some(headers)) = (ir::attr_str(op, names::INLINE), headers) else {
            continue;
        };
        let Some(call) = CallExtern::of(op) else { continue };
        let file = files.entry(target.clone()).or_insert_with(|| File::new(&target, headers));
        let wrapped = Wrapped::new(op, &call)?;
        let name = file.name(&wrapped, &call.callee, &own_prefix(model, &target));
        wrapped.replace(op, &call, &name, &header_name(model, &target))?;
    }
    if !files.is_empty() {
        let text = |(target, file): (String, File)| {
            (target, StringAttribute::new(context, &file.text()).into())
        };
        let all: Vec<_> = files.into_iter().map(text).collect();
        edit::set_attr(module, names::C_INLINE, edit::dictionary_attr(context, &all));
    }
    Ok(())
}

/// A generated header.
struct File {
    target: String,
    headers: Vec<String>,
    /// Names by all that makes functions differ.
    known: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    functions: Vec<String>,
}

impl File {
    fn new(target: &str, headers: Vec<String>) -> Self {
        let target = target.to_owned();
        Self { target, headers, known: BTreeMap::new(), taken: BTreeSet::new(), functions: vec![] }
    }

    /// The name of the function around a call, which is defined if there is none yet.
    fn name(&mut self, wrapped: &Wrapped<'_>, callee: &str, prefix: &str) -> String {
        let key = wrapped.text("", callee);
        if let Some(name) = self.known.get(&key) {
            return name.clone();
        }
        let mut name = format!("{prefix}{callee}");
        let mut number = 0;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{prefix}{callee}_{number}");
        }
        self.functions.push(wrapped.text(&name, callee));
        self.known.insert(key, name.clone());
        name
    }

    fn text(&self) -> String {
        let guard = format!("PHL_INLINE_OF_{}", c_identifier(&self.target).to_uppercase());
        let mut text = format!(
            "/* Generated by Phaseline; do not edit. Functions around what headers of '{}' have. */\n\
             #ifndef {guard}\n#define {guard}\n\n\
             #include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n",
            self.target.replace("*/", "* /")
        );
        let functions = self.functions.concat();
        if ["NAN", "INFINITY"].iter().any(|name| functions.contains(name)) {
            text += "#include <math.h>\n";
        }
        for header in &self.headers {
            text += &format!("#include \"{}/{header}\"\n", self.target);
        }
        text += &format!("\n#ifndef {MACRO}\n#define {MACRO} static inline\n#endif\n\n");
        text + &functions + "\n#endif\n"
    }
}

/// A call with its arguments divided into those of the function around it, and those in it.
struct Wrapped<'c> {
    /// By C argument: what is passed, or the text of a constant.
    arguments: Vec<Given<'c>>,
    status: bool,
}

enum Given<'c> {
    /// A parameter of the C type.
    Passed { ty: String, group: Group, index: usize, value: ir::Val<'c> },
    /// A constant.
    Fixed(String),
}

impl<'c> Wrapped<'c> {
    fn new(op: Op<'c>, call: &CallExtern<'c>) -> PassResult<'c, Self> {
        let unsigned = op.attribute(names::UNSIGNED).ok().and_then(ir::i64s).unwrap_or_default();
        let scratch = ir::attr_i64(op, SCRATCH_OUT);
        let given = |(argument, place): (&Attribute<'c>, i64)| {
            let Some((group, index, by_offset)) = arg_of(*argument) else {
                return constant(op, *argument).map(Given::Fixed);
            };
            let value = call.groups.get(group as usize).and_then(|group| group.get(index)).copied();
            let Some(value) = value.filter(|_| !by_offset) else {
                return Err(PassError::at(
                    &op,
                    "passes scratch memory or an offset, which has no place yet",
                ));
            };
            let is_scalar = group == Group::Scalars;
            if let Some(known) = edit::defining_op(value)
                .filter(|op| is_scalar && ir::op_name(*op) == "arith.constant")
                .and_then(|op| op.attribute("value").ok())
            {
                return constant(op, known).map(Given::Fixed);
            }
            let element = c_type(op, ir::element_type(value.r#type()))?;
            let is_unsigned = unsigned.contains(&place) && matches!(element, CType::Int(_));
            let name = if is_unsigned { element.unsigned_name() } else { element.name() };
            let ty = match group {
                Group::Scalars => name.to_owned(),
                Group::Ins => format!("const {name} *"),
                // What a call reads and what it writes are apart.
                _ if scratch == Some(index as i64) => "void *restrict".to_owned(),
                _ => format!("{name} *restrict"),
            };
            Ok(Given::Passed { ty, group, index, value })
        };
        let arguments = call.args.iter().zip(0..).map(given).collect::<PassResult<'c, _>>()?;
        Ok(Self { arguments, status: op.has_attribute("returns_status") })
    }

    /// The C of the function.
    fn text(&self, name: &str, callee: &str) -> String {
        let (mut parameters, mut arguments) = (vec![], vec![]);
        for (place, given) in self.arguments.iter().enumerate() {
            match given {
                Given::Fixed(text) => arguments.push(text.clone()),
                Given::Passed { ty, .. } => {
                    let blank = if ty.ends_with('*') { "" } else { " " };
                    parameters.push(format!("{ty}{blank}a{place}"));
                    arguments.push(format!("a{place}"));
                }
            }
        }
        let parameters =
            if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let (result, gives) = if self.status { ("int32_t", "return ") } else { ("void", "") };
        let arguments = arguments.join(", ");
        format!("{MACRO} {result} {name}({parameters}) {{\n  {gives}{callee}({arguments});\n}}\n")
    }

    /// Calls the function in place of the call.
    fn replace(
        &self,
        op: Op<'c>,
        call: &CallExtern<'c>,
        name: &str,
        header: &str,
    ) -> PassResult<'c> {
        let b = Builder::before(op)?;
        let mut new = CallExtern::new(name);
        let left = [names::INLINE_HEADERS, names::UNSIGNED, SCRATCH_OUT];
        new.attributes = call.attributes.clone();
        new.attributes.retain(|(name, _)| !left.contains(&name.as_str()));
        let scratch = ir::attr_i64(op, SCRATCH_OUT);
        for given in &self.arguments {
            let Given::Passed { group, index, value, .. } = given else { continue };
            // Half floats are integers in C, which functions get in other registers.
            let is_half = value.r#type().is_f16() || value.r#type().is_bf16();
            let value =
                if is_half { b.op1("arith.bitcast", &[*value], b.int(16))? } else { *value };
            if *group == Group::Outs && scratch == Some(*index as i64) {
                let place = new.groups[Group::Outs as usize].len() as i64;
                new.set(SCRATCH_OUT, b.i64_attr(place));
            }
            new.push(b.context, *group, value);
        }
        new.set("header", b.str_attr(header));
        new.build(&b, &[])?;
        edit::erase(op);
        Ok(())
    }
}

/// The C of a constant argument, with the type that it has in the call.
fn constant<'c>(op: Op<'c>, value: Attribute<'c>) -> PassResult<'c, String> {
    if is_null(value) {
        return Ok("NULL".to_owned());
    }
    let ty: Option<Type<'c>> = ir::attribute::number_type(value);
    let c = ty.and_then(CType::of);
    let (Some(ty), Some(c)) = (ty, c) else {
        return Err(PassError::at(&op, format!("passes {value}, which has no form in C")));
    };
    let is_unsigned = IntegerType::try_from(ty).is_ok_and(|ty| ty.is_unsigned());
    let number = match (ir::attribute::int(value), ir::attribute::float(value)) {
        (Some(number), _) if is_unsigned => match c.bytes() {
            8 => format!("UINT64_C({})", number as u64),
            _ => format!("{}u", number as u32),
        },
        (Some(number), _) => scalar::integer(c, number).text().text,
        (_, Some(number)) => scalar::real(c, number).text().text,
        _ => return Err(PassError::at(&op, format!("passes {value}, which has no form in C"))),
    };
    Ok(match c {
        CType::Int(64 | 32) | CType::Bool | CType::Float | CType::Double if !is_unsigned => number,
        _ if is_unsigned => format!("({}){number}", c.unsigned_name()),
        _ => format!("({}){number}", c.name()),
    })
}
