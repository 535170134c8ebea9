//! Regions that are blobs: the C that has a device load, execute and unload them.
//!
//! A session has the handles that loading gave. The function of a region is here if a hook made code of
//! the whole module, else it is printed and calls one that is here.

use crate::{
    Error, Result,
    artifact::{c_identifier, files},
    ir::{
        self, Op,
        call_extern::{CallExtern, Group},
        edit,
        names::{self, symbol_name},
    },
    targets::{Blob, TargetInstance, hooks::BLOB_END},
};
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, DenseI64ArrayAttribute, StringAttribute},
    operation::OperationLike,
};

/// A region that is a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Name in messages.
    pub name: String,
    /// The C function that has it executed.
    pub function: String,
    /// Symbol of its bytes.
    pub symbol: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// True for each argument that is written.
    written: Vec<bool>,
}

/// The blobs in the module of a target.
///
/// # Errors
/// A blob is that of no function, or a function's is not there.
pub fn regions(part: Op<'_>, target: &TargetInstance, model: &str) -> Result<Vec<Region>> {
    if target.kind.codegen.blob.is_none() {
        return Ok(vec![]);
    }
    let mut found = called(part)?;
    found.extend(defined(part)?);
    let artifacts = files::recorded(part)?;
    let blobs = artifacts
        .into_iter()
        .filter(|artifact| artifact.name.ends_with(BLOB_END) && !artifact.is_in_folder());
    let mut regions = vec![];
    for blob in blobs {
        let place = found.iter().position(|(name, ..)| *name == blob.name).ok_or_else(|| {
            Error::invalid(format!(
                "target '{}': the artifact {} is the blob of no region: name it after the function \
                 that it stands for, FUNCTION{BLOB_END}",
                target.id, blob.name
            ))
        })?;
        let (_, function, written) = found.remove(place);
        let name = blob.name.trim_end_matches(BLOB_END);
        let model_name = symbol_name(model, "");
        let name = name.strip_prefix(&model_name).unwrap_or(name).to_owned();
        let symbol = symbol_name(model, &format!("{name}_blob_data"));
        regions.push(Region { name, function, symbol, bytes: blob.bytes, written });
    }
    match found.first() {
        None => Ok(regions),
        Some((name, ..)) => Err(Error::invalid(format!(
            "target '{}': the artifact {name} is not there, which a function has the device execute",
            target.id
        ))),
    }
}

/// The name of an artifact, the function that has it executed, and which arguments it writes.
type Use = (String, String, Vec<bool>);

/// Notes on a module which blobs its calls have executed, before these become calls of another dialect.
pub fn note_called(module: Op<'_>) -> Result<()> {
    let context = ir::context_of(module);
    let text = |value: &str| StringAttribute::new(context, value).into();
    let entry = |(artifact, function, written): Use| {
        let of = |wanted: bool| {
            let places = written.iter().enumerate().filter(|(_, written)| **written == wanted);
            let places: Vec<i64> = places.map(|(place, _)| place as i64).collect();
            DenseI64ArrayAttribute::new(context, &places).into()
        };
        let entries = [
            ("artifact".to_owned(), text(&artifact)),
            ("function".to_owned(), text(&function)),
            ("inputs".to_owned(), of(false)),
            ("outputs".to_owned(), of(true)),
        ];
        edit::dictionary_attr(context, &entries)
    };
    let entries: Vec<Attribute<'_>> = called(module)?.into_iter().map(entry).collect();
    if !entries.is_empty() {
        edit::set_attr(module, names::BLOBS, ArrayAttribute::new(context, &entries).into());
    }
    Ok(())
}

/// Blobs that printed functions have executed.
fn called(part: Op<'_>) -> Result<Vec<Use>> {
    let mut found: Vec<Use> = vec![];
    for op in edit::walk(part) {
        let Some(name) = ir::attr_str(op, names::BLOB) else { continue };
        let call = CallExtern::of(op)
            .ok_or_else(|| Error::invalid(format!("{} is for calls only", names::BLOB)))?;
        let count = |group: Group| call.groups[group as usize].len();
        let (ins, outs) = (count(Group::Ins), count(Group::Outs));
        let written = (0..ins + outs).map(|index| index >= ins).collect();
        if !found.iter().any(|(known, ..)| *known == name) {
            found.push((name, call.callee, written));
        }
    }
    Ok(found)
}

/// Blobs that stand for functions of a module whose code is a hook's, or that were called.
fn defined(part: Op<'_>) -> Result<Vec<Use>> {
    let list = part.attribute(names::BLOBS).map(edit::array).unwrap_or_default();
    let read = |entry: &Attribute<'_>| {
        let entries = edit::dictionary(*entry);
        let of = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
        let function = edit::string(of("function")?)?;
        let (inputs, outputs) = (ir::i64s(of("inputs")?)?, ir::i64s(of("outputs")?)?);
        let all = inputs.len() + outputs.len();
        let written = (0..all).map(|index| outputs.contains(&(index as i64))).collect();
        let artifact = of("artifact").and_then(edit::string);
        Some((artifact.unwrap_or_else(|| format!("{function}{BLOB_END}")), function, written))
    };
    let found = list.iter().map(|entry| {
        read(entry).ok_or_else(|| {
            Error::invalid(format!(
                "{} has the entry {entry}, which is no dictionary of function, inputs and outputs",
                names::BLOBS
            ))
        })
    });
    found.collect()
}

/// The parts of a session's C that have blobs to do with.
pub struct Code<'a> {
    regions: &'a [Region],
    blob: &'a Blob,
}

impl<'a> Code<'a> {
    /// The parts for a target that has blobs; none for others.
    pub fn of(target: &'a TargetInstance, regions: &'a [Region]) -> Option<Self> {
        let blob = target.kind.codegen.blob.as_ref()?.get_ref();
        Some(Self { regions, blob })
    }

    /// Prototypes and the bytes.
    pub fn declared(&self) -> String {
        let Blob { load, execute, unload } = self.blob;
        let unload = unload.iter().map(|name| format!("int {name}(void *device, void *handle);\n"));
        let data = self.regions.iter();
        let data = data.map(|region| format!("extern const unsigned char {}[];\n", region.symbol));
        format!(
            "int {load}(void *device, const void *data, size_t bytes, void **handle);\nint \
             {execute}(void *device, void *handle, const void *const *inputs,\n    size_t \
             num_inputs, void *const *outputs, size_t num_outputs);\n{}{}",
            unload.collect::<String>(),
            data.collect::<String>()
        )
    }

    /// The last fields of a session.
    pub fn fields(&self) -> String {
        format!("  size_t loaded;\n  void *blobs[{}];\n", self.regions.len().max(1))
    }

    /// Loads all blobs into a session that is open; says of which region one is refused.
    pub fn load(&self) -> String {
        let load = &self.blob.load;
        let entry = |region: &Region| {
            let Region { name, symbol, bytes, .. } = region;
            format!("      {{{symbol}, {}, \"{name}\"}},\n", bytes.len())
        };
        let entries: String = self.regions.iter().map(entry).collect();
        if entries.is_empty() {
            return "static int32_t load_blobs(struct session *session, const char **region) {\n  \
                    (void)session;\n  (void)region;\n  return 0;\n}\n"
                .to_owned();
        }
        let count = self.regions.len();
        format!(
            "\
static int32_t load_blobs(struct session *session, const char **region) {{
  static const struct {{
    const unsigned char *data;
    size_t bytes;
    const char *region;
  }} all[] = {{
{entries}  }};
  for (size_t i = 0; i < {count}; i++) {{
    int32_t status = {load}(session->device, all[i].data, all[i].bytes, &session->blobs[i]);
    if (status) {{
      *region = all[i].region;
      return status;
    }}
    session->loaded++;
  }}
  return 0;
}}
"
        )
    }

    /// Unloads what is loaded, the last one first.
    pub fn unload(&self) -> String {
        let Some(unload) = &self.blob.unload else { return String::new() };
        format!(
            "  while (session->loaded > 0) {{\n    int32_t unloaded = {unload}(session->device, \
             session->blobs[--session->loaded]);\n    status = status ? status : unloaded;\n  }}\n"
        )
    }

    /// The functions that have a region executed.
    pub fn functions(&self) -> String {
        let execute = &self.blob.execute;
        let function = |(index, region): (usize, &Region)| {
            let Region { function, written, .. } = region;
            let parameter = |(at, written): (usize, &bool)| {
                format!(", {}void *value_{at}", if *written { "" } else { "const " })
            };
            let parameters: String = written.iter().enumerate().map(parameter).collect();
            let list = |wanted: bool| {
                let names = written.iter().enumerate().filter(|(_, written)| **written == wanted);
                let names: Vec<_> = names.map(|(at, _)| format!("value_{at}")).collect();
                let count = names.len();
                // C has no arrays without elements.
                (if names.is_empty() { "0".to_owned() } else { names.join(", ") }, count)
            };
            let ((inputs, ins), (outputs, outs)) = (list(false), list(true));
            format!(
                "
int32_t {function}(void *handle{parameters});

int32_t {function}(void *handle{parameters}) {{
  struct session *session = handle;
  const void *const inputs[] = {{{inputs}}};
  void *const outputs[] = {{{outputs}}};
  return {execute}(session->device, session->blobs[{index}], inputs, {ins}, outputs, {outs});
}}
"
            )
        };
        self.regions.iter().enumerate().map(function).collect()
    }
}

/// The C of a session without memory: a device with its blobs.
pub fn source(
    (open, close): (&str, Option<&str>),
    code: &Code<'_>,
    names: &SessionNames,
) -> String {
    let SessionNames { open: opens, open_at, close: closes } = names;
    let (declared, fields, load) = (code.declared(), code.fields(), code.load());
    let prototype = close.map(|close| format!("int {close}(void *device);\n")).unwrap_or_default();
    let (opening, closing) = (opening(open, names), closing(close, code, names));
    let functions = code.functions();
    format!(
        "\
/* Generated by Phaseline: a device with what it executes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int {open}(void **device);
{prototype}{declared}
struct session {{
  void *device;
{fields}}};

int32_t {open_at}(void **out, const char **region);
int32_t {opens}(void **out);
int32_t {closes}(void *handle);

{load}
{opening}
{closing}{functions}"
    )
}

/// The functions that open a device and load its blobs.
fn opening(open: &str, names: &SessionNames) -> String {
    let SessionNames { open: opens, open_at, close: closes } = names;
    format!(
        "\
int32_t {open_at}(void **out, const char **region) {{
  *region = NULL;
  struct session *session = calloc(1, sizeof *session);
  if (!session)
    return -1;
  int32_t status = {open}(&session->device);
  if (status) {{
    free(session);
    return status;
  }}
  status = load_blobs(session, region);
  if (status) {{
    {closes}(session);
    return status;
  }}
  *out = session;
  return 0;
}}

int32_t {opens}(void **out) {{
  const char *region;
  return {open_at}(out, &region);
}}
"
    )
}

/// The function that closes it.
fn closing(close: Option<&str>, code: &Code<'_>, names: &SessionNames) -> String {
    let unload = code.unload();
    let closed = close.map_or(String::new(), |close| {
        format!(
            "  int32_t ended = {close}(session->device);\n  status = status ? status : ended;\n"
        )
    });
    format!(
        "\
int32_t {closes}(void *handle) {{
  struct session *session = handle;
  int32_t status = 0;
{unload}{closed}  free(session);
  return status;
}}
",
        closes = names.close
    )
}

/// The functions that programs open and close a device with its blobs with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionNames {
    /// `int32_t open(void **session)`.
    pub open: String,
    /// `int32_t open_at(void **session, const char **region)`, which says what region's blob is refused.
    pub open_at: String,
    /// `int32_t close(void *session)`.
    pub close: String,
}

impl SessionNames {
    /// Names for a device that has only blobs, by the id of its target; or for one with memory, by
    /// its memory space.
    pub fn new(model: &str, stem: &str) -> Self {
        let name = |end: &str| symbol_name(model, &format!("{}_{end}", c_identifier(stem)));
        Self { open: name("open"), open_at: name("open_at"), close: name("close") }
    }
}
