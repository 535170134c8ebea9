//! A device's memory and its queue in a manifest.

use super::{
    super::{
        codegen::Codegen,
        kind::Role,
        memory::{MemoryDecl, QueueDecl},
        options::OptionDecl,
    },
    Source, check_name, files, number,
    raw::{RawMemory, RawQueue},
    size,
};
use crate::Result;
use toml::Spanned;

/// Declarations that memory and queue depend on.
pub struct Given<'a> {
    pub role: Role,
    pub codegen: &'a Codegen,
    pub options: &'a [OptionDecl],
}

/// Reads the tables `memory` and `queue`.
pub fn declare(
    source: &Source,
    (memory, queue): (Option<Spanned<RawMemory>>, Option<Spanned<RawQueue>>),
    given: &Given<'_>,
) -> Result<(Option<MemoryDecl>, Option<QueueDecl>)> {
    let fault = |place: &std::ops::Range<usize>, message: &str| Err(source.fault(place, message));
    if let (Some(queue), None) = (&queue, &memory) {
        return fault(
            &queue.span(),
            "a queue needs [memory]: what is in the host's memory may change before the work begins",
        );
    }
    let Some(memory) = memory else { return Ok((None, None)) };
    let place = memory.span();
    if given.role == Role::Host {
        return fault(&place, "a host works in the host's memory; only devices have [memory]");
    }
    if given.codegen.open.is_none() {
        return fault(
            &place,
            "[memory] needs `open` in [codegen]: its functions take the device first",
        );
    }
    let memory = self::memory(source, memory.into_inner(), &place, given.options)?;
    let queue = queue.map(|queue| self::queue(source, queue, given.options)).transpose()?;
    Ok((Some(memory), queue))
}

fn queue(source: &Source, raw: Spanned<RawQueue>, options: &[OptionDecl]) -> Result<QueueDecl> {
    let place = raw.span();
    let raw = raw.into_inner();
    let needs = |given: bool, what: &str, missing: &[(&str, bool)]| match missing
        .iter()
        .find(|(_, is_there)| given && !is_there)
    {
        Some((key, _)) => {
            Err(source.fault(&place, format!("{what} needs `{key}`, a function of the device")))
        }
        None => Ok(()),
    };
    let submit = ("submit", raw.submit.is_some());
    let (select, after) = (("select", raw.select.is_some()), ("after", raw.after.is_some()));
    needs(raw.wait_for.is_some(), "`wait-for`", &[submit])?;
    needs(raw.count.is_some(), "`count`", &[select, submit, after])?;
    let queues = raw.count.is_some();
    if let (Some(name), false) = (raw.select.as_ref().or(raw.after.as_ref()), queues) {
        return Err(source.fault(
            &name.span(),
            "`select` and `after` are for several queues: say how many with `count`",
        ));
    }
    if let (Some(name), None, false) = (&raw.submit, &raw.wait_for, queues) {
        return Err(source.fault(
            &name.span(),
            "`submit` gives tickets that nobody waits for: add `wait-for`, or `count` with `after`",
        ));
    }
    let expression = |value: &Option<Spanned<toml::Value>>| {
        value.as_ref().map(|value| number(source, value, options)).transpose()
    };
    let optional =
        |name: Option<Spanned<String>>| name.map(|name| function(source, name)).transpose();
    Ok(QueueDecl {
        wait: function(source, raw.wait)?,
        timeout: expression(&raw.timeout)?,
        submit: optional(raw.submit)?,
        wait_for: optional(raw.wait_for)?,
        count: expression(&raw.count)?,
        select: optional(raw.select)?,
        after: optional(raw.after)?,
        doc: raw.doc,
    })
}

fn memory(
    source: &Source,
    raw: RawMemory,
    place: &std::ops::Range<usize>,
    options: &[OptionDecl],
) -> Result<MemoryDecl> {
    let needed = |name: Option<Spanned<String>>, key: &str| match name {
        Some(name) => function(source, name),
        None => {
            Err(source.fault(place, format!("[memory] needs `{key}`, a function of the device")))
        }
    };
    if let Some(name) = &raw.name {
        check_name(source, name, "a memory")?;
    }
    let alignment = raw.alignment.as_ref().map_or(64, |alignment| *alignment.get_ref());
    if let Some(given) = &raw.alignment
        && !(alignment > 0 && alignment.count_ones() == 1)
    {
        return Err(source.fault(&given.span(), "an alignment is a power of two"));
    }
    Ok(MemoryDecl {
        name: raw.name.map_or_else(|| "memory".to_owned(), Spanned::into_inner),
        bytes: raw.bytes.as_ref().map(|value| size(source, value, options)).transpose()?,
        alignment,
        allocate: needed(raw.allocate, "allocate")?,
        free: raw.free.map(|name| function(source, name)).transpose()?,
        copy_in: needed(raw.copy_in, "copy-in")?,
        copy_out: needed(raw.copy_out, "copy-out")?,
        copy_within: raw.copy_within.map(|name| function(source, name)).transpose()?,
        doc: raw.doc.unwrap_or_default(),
    })
}

fn function(source: &Source, name: Spanned<String>) -> Result<String> {
    if files::is_identifier(name.get_ref()) {
        return Ok(name.into_inner());
    }
    let message = format!("'{}' is no name of a C function", name.get_ref());
    Err(source.fault(&name.span(), message))
}
