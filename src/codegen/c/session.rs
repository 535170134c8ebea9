//! The C that opens a device together with its memory.
//!
//! What a run is given for such a device is a session: the device, where its values are, where its
//! constants are, in this order. The generated entry point reads these fields, so that programs open
//! one thing and pass it on, as for devices without memory.

use super::{blob, context};
use crate::{
    Result,
    artifact::{Bound, DeviceMemory, DeviceSession},
    ir::names::{load_symbol, settle_symbol, symbol_name},
    targets::{Activation, Codegen, MemoryDecl, TargetInstance},
};

/// Which field of a session has the device.
pub const DEVICE: usize = 0;
/// Which one has the address of the values.
pub const VALUES: usize = 1;
/// Which one has the address of the constants.
pub const CONSTANTS: usize = 2;

/// The device of a session that C has as `handle`.
pub const DEVICE_OF_HANDLE: &str = "*(void *const *)handle";

/// The functions of a session.
pub fn names(model: &str, space: &str) -> DeviceSession {
    let name = |end: &str| symbol_name(model, &format!("{space}_{end}"));
    DeviceSession {
        open: name("open"),
        close: name("close"),
        load: load_symbol(model, space),
        settle: settle_symbol(model, space),
    }
}

/// How the work of a device is waited for.
pub struct Wait {
    function: String,
    /// Milliseconds.
    limit: Option<i64>,
}

impl Wait {
    /// That of a target, if it has a queue.
    pub fn of(target: &TargetInstance) -> Result<Option<Self>> {
        let Some(queue) = &target.kind.queue else { return Ok(None) };
        Ok(Some(Self { function: queue.wait.clone(), limit: target.timeout()? }))
    }

    fn parameters(&self) -> &'static str {
        match self.limit {
            Some(_) => "void *device, int64_t milliseconds",
            None => "void *device",
        }
    }

    fn call(&self) -> String {
        let limit = self.limit.map(|limit| format!(", INT64_C({limit})")).unwrap_or_default();
        format!("{}(session->device{limit})", self.function)
    }
}

/// Statements that set the status, with what is called around them.
fn active(calls: Option<&context::Calls>, statements: &str) -> String {
    let Some(context::Calls { begin, end }) = calls else { return statements.to_owned() };
    let ended = end.as_ref().map_or(String::new(), |end| {
        format!("  int32_t ended = {end}(session->device);\n  status = status ? status : ended;\n")
    });
    format!(
        "  status = {begin}(session->device);\n  if (status)\n    return status;\n{statements}{ended}"
    )
}

/// The source of a session's functions.
pub fn source(
    (open, codegen): (&str, &Codegen),
    decl: &MemoryDecl,
    wait: Option<&Wait>,
    (memory, parts): (&DeviceMemory, Parts<'_>),
    names: &DeviceSession,
) -> String {
    let DeviceMemory { values_bytes, constants_bytes, alignment, .. } = memory;
    let padded = constants_bytes.next_multiple_of(*alignment);
    // Not every device can give nothing.
    let total = (padded + values_bytes).max(*alignment);
    let close = codegen.close.as_deref();
    let (allocate, free, copy) = (&decl.allocate, decl.free.as_deref(), &decl.copy_in);
    let status = |function: &str, parameters: &str| format!("int {function}({parameters});\n");
    let mut declared = status(open, "void **device");
    declared += &close.map(|name| status(name, "void *device")).unwrap_or_default();
    declared += &status(allocate, "void *device, size_t bytes, void **address");
    declared += &free.map(|n| status(n, "void *device, void *address")).unwrap_or_default();
    declared += &status(copy, "void *device, void *to, const void *from, size_t bytes");
    declared += &wait.map(|wait| status(&wait.function, wait.parameters())).unwrap_or_default();
    let around = context::calls(codegen, Activation::Region);
    declared +=
        &around.iter().flat_map(context::Calls::prototypes).map(|t| t + "\n").collect::<String>();
    declared += &parts.declared;
    let copies = (decl, wait, context::any(codegen));
    let buffers = parts.bound.map(|bound| buffers(bound, copies)).unwrap_or_default();
    if !buffers.is_empty() {
        declared +=
            &status(&decl.copy_out, "void *device, void *to, const void *from, size_t bytes");
        let context = context::any(codegen).filter(|_| around.is_none());
        declared += &context
            .iter()
            .flat_map(context::Calls::prototypes)
            .map(|t| t + "\n")
            .collect::<String>();
    }
    let Parts { fields, loads, opening, loading, again, unloading, unloaded, functions, .. } =
        parts;
    let DeviceSession { open: opens, close: closes, load, settle } = names;
    let freed = free.map_or(String::new(), |free| {
        format!("  if (session->memory)\n    status = {free}(session->device, session->memory);\n")
    });
    let closed = close.map_or(String::new(), |close| {
        format!(
            "  int32_t closed = {close}(session->device);\n  status = status ? status : closed;\n"
        )
    });
    let waits = wait
        .map_or(String::new(), |wait| format!("  if (!status)\n    status = {};\n", wait.call()));
    let ends = wait.map_or("  (void)handle;\n".to_owned(), |wait| {
        format!("  struct session *session = handle;\n  if (status)\n    (void){};\n", wait.call())
    });
    let upload = match constants_bytes {
        0 => "  (void)constants;\n".to_owned(),
        _ => active(
            around.as_ref(),
            &format!(
                "  status = {copy}(session->device, session->constants, constants, \
                 {constants_bytes});\n{waits}"
            ),
        ),
    };
    format!(
        "\
/* Generated by Phaseline: a device with its memory. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

{declared}
struct session {{
  void *device;
  char *values;
  char *constants;
  void *memory;
  int is_loaded;
{fields}}};

int32_t {opens}(void **out);
int32_t {closes}(void *handle);
int32_t {load}(void *handle, const void *constants);
int32_t {settle}(void *handle, int32_t status);

{loads}{opening}
  struct session *session = calloc(1, sizeof *session);
  if (!session)
    return -1;
  int32_t status = {open}(&session->device);
  if (status) {{
    free(session);
    return status;
  }}
  status = {allocate}(session->device, {total}, &session->memory);
  if (status) {{
    session->memory = NULL;
    {closes}(session);
    return status;
  }}
  session->constants = session->memory;
  session->values = session->constants + {padded};
{loading}  *out = session;
  return 0;
}}
{again}
int32_t {closes}(void *handle) {{
  struct session *session = handle;
  int32_t status = 0;
{unloading}{freed}{closed}{unloaded}  free(session);
  return status;
}}

/* Constants go to the device once. */
int32_t {load}(void *handle, const void *constants) {{
  struct session *session = handle;
  int32_t status = 0;
  if (session->is_loaded)
    return 0;
{upload}  session->is_loaded = status == 0;
  return status;
}}

/* After a run that failed nothing is under way any more. */
int32_t {settle}(void *handle, int32_t status) {{
{ends}  return status;
}}
{functions}{buffers}"
    )
}

/// The functions with which programs have buffers in the memory of a device.
pub fn bound(model: &str, space: &str, bound: Bound) -> Bound {
    let name = |end: &str| symbol_name(model, &format!("{space}_{end}"));
    let (allocate, free, write, read) =
        (name("allocate"), name("free"), name("write"), name("read"));
    Bound { allocate, free, write, read, ..bound }
}

/// The C of these functions.
fn buffers(
    bound: &Bound,
    (decl, wait, calls): (&MemoryDecl, Option<&Wait>, Option<context::Calls>),
) -> String {
    let Bound { allocate, free, write, read, .. } = bound;
    let (vendor, release) = (&decl.allocate, decl.free.as_deref().unwrap_or_default());
    let copy = |name: &str, copy: &str| {
        let waits = wait.map_or(String::new(), |wait| {
            format!("  int32_t waited = {};\n  status = status ? status : waited;\n", wait.call())
        });
        let moves = format!("  status = {copy}(session->device, to, from, bytes);\n{waits}");
        let moves = active(calls.as_ref(), &moves);
        format!(
            "
int32_t {name}(void *handle, void *to, const void *from, size_t bytes);

int32_t {name}(void *handle, void *to, const void *from, size_t bytes) {{
  struct session *session = handle;
  int32_t status = 0;
{moves}  return status;
}}
"
        )
    };
    format!(
        "
int32_t {allocate}(void *handle, size_t bytes, void **address);

int32_t {allocate}(void *handle, size_t bytes, void **address) {{
  struct session *session = handle;
  return {vendor}(session->device, bytes, address);
}}

int32_t {free}(void *handle, void *address);

int32_t {free}(void *handle, void *address) {{
  struct session *session = handle;
  return {release}(session->device, address);
}}
{}{}",
        copy(write, &decl.copy_in),
        copy(read, &decl.copy_out)
    )
}

/// What blobs add to the C of a session.
#[derive(Default)]
pub struct Parts<'a> {
    bound: Option<&'a Bound>,
    declared: String,
    fields: String,
    loads: String,
    opening: String,
    loading: String,
    again: String,
    unloading: String,
    unloaded: String,
    functions: String,
}

impl<'a> Parts<'a> {
    /// Those of a model with these blobs and bound values.
    pub fn of(
        blobs: Option<&blob::Code<'_>>,
        bound: Option<&'a Bound>,
        names: &DeviceSession,
    ) -> Self {
        let DeviceSession { open, close, .. } = names;
        let Some(code) = blobs else {
            let opening = format!("int32_t {open}(void **out) {{");
            return Self { bound, opening, ..Self::default() };
        };
        let open_at = format!("{open}_at");
        Self {
            bound,
            declared: code.declared(),
            fields: code.fields(),
            loads: format!(
                "int32_t {open_at}(void **out, const char **region);\n\n{}\n",
                code.load()
            ),
            opening: format!(
                "int32_t {open_at}(void **out, const char **region) {{\n  *region = NULL;"
            ),
            loading: format!(
                "  status = load_blobs(session, region);\n  if (status) {{\n    \
                 {close}(session);\n    return status;\n  }}\n"
            ),
            again: format!(
                "\nint32_t {open}(void **out) {{\n  const char *region;\n  return \
                 {open_at}(out, &region);\n}}\n"
            ),
            unloading: format!("{}  int32_t first = status;\n", code.unload()),
            unloaded: "  status = first ? first : status;\n".to_owned(),
            functions: code.functions(),
        }
    }
}
