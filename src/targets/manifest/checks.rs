//! Checks of what a manifest says about generated code, against its other declarations.

use super::{
    super::{
        codegen::{Codegen, StandIn},
        device::{self, Activation},
        instance::check_placeholders,
        kind::{PatternDecl, Role, option_word},
        memory::MemoryDecl,
        options::{OptionDecl, OptionKind},
    },
    Source,
};
use crate::{Error, Phase, Result};

/// Checks that the kind of code is one for the role. `has_own` is whether it has its own pipeline.
pub fn kind(name: &str, (codegen, role): (&Codegen, Role), has_own: bool) -> Result<()> {
    let checked = codegen.kind.check(role, has_own);
    checked.map_err(|reason| Error::invalid(format!("{name}: codegen: {reason}")))
}

/// Checks that patterns of the host's code need nothing that stands around regions of a device: no memory of its
/// own, no pool, no context.
pub fn inline(
    source: &Source,
    memory: Option<&MemoryDecl>,
    (role, codegen): (Role, &Codegen),
    patterns: &[PatternDecl],
) -> Result<()> {
    let inline = || patterns.iter().filter(|pattern| pattern.spec.inline);
    let fault = |pattern: &PatternDecl, reason: &str| {
        let message = format!("pattern '{}' is inline, but {reason}", pattern.spec.name);
        Err(source.fault_at(pattern.match_line, message))
    };
    if let (Role::Host, Some(pattern)) = (role, inline().next()) {
        return fault(
            pattern,
            "its target is a host, whose code it is in anyway: leave out inline",
        );
    }
    let in_pool = |pattern: &&PatternDecl| {
        pattern.spec.tile.as_ref().is_some_and(|tile| !tile.pools.is_empty())
    };
    if let Some(pattern) = inline().find(in_pool) {
        return fault(
            pattern,
            "its tiles are in a pool, which the host's code does not know: leave out inline, or the pool, for \
             tiles where the tensors are",
        );
    }
    let by_region = codegen.when.as_ref().is_some_and(|when| *when.get_ref() == Activation::Region);
    if let (Some(pattern), true, true) = (inline().next(), by_region, codegen.activate.is_some()) {
        return fault(
            pattern,
            "`activate` is called around each region (when = \"region\"), and the host's code is in none: take \
             when = \"inference\", or leave out inline",
        );
    }
    if let (Some(memory), Some(inline)) =
        (memory, patterns.iter().find(|pattern| pattern.spec.inline))
    {
        return Err(source.fault_at(
            inline.match_line,
            format!(
                "pattern '{}' is inline, but its tensors are in the memory '{}', which the host's code \
                 does not know: give it a target of its own, without [memory], or leave out inline",
                inline.spec.name, memory.name
            ),
        ));
    }
    Ok(())
}

/// Checks the section `[codegen]` against role, queue, pipelines and options.
pub fn codegen(
    source: &Source,
    name: &str,
    (codegen, role, has_queue): (&Codegen, Role, bool),
    pipelines: &[(Phase, String)],
    options: &[OptionDecl],
) -> Result<()> {
    device::check(codegen, (role, has_queue), &|place, message| source.fault(place, message))?;
    check_open_arguments(name, codegen, options)?;
    let phase = pipelines.iter().find(|(phase, _)| *phase == Phase::Codegen);
    let phase = phase.map(|(_, text)| text.as_str());
    codegen
        .check_kernels(role, phase)
        .and_then(|()| codegen.check_emit(phase))
        .map_err(|reason| Error::invalid(format!("{name}: codegen: {reason}")))?;
    check_flags(name, codegen.cflags.iter().chain(&codegen.link_flags), options)?;
    match &codegen.stand_in {
        Some(stand_in) => check_stand_in(name, stand_in, options),
        None => Ok(()),
    }
}

/// Checks that the options exist that the use of a library depends on.
fn check_stand_in(name: &str, stand_in: &StandIn, options: &[OptionDecl]) -> Result<()> {
    let fault = |message: String| Err(Error::invalid(format!("{name}: codegen: {message}")));
    let is_text =
        |option: &OptionDecl| option.name == stand_in.option && option.kind == OptionKind::String;
    if !options.iter().any(is_text) {
        return fault(format!(
            "stand-in names '{}', which is no option of type string",
            stand_in.option
        ));
    }
    let flags = stand_in.library_cflags.iter().chain(&stand_in.library_link_flags);
    check_flags(name, flags, options)
}

/// Checks that the options exist that the device is opened with.
fn check_open_arguments(name: &str, codegen: &Codegen, options: &[OptionDecl]) -> Result<()> {
    if codegen.open.is_none() && !codegen.open_arguments.is_empty() {
        let message = format!("{name}: codegen: open-arguments without `open`, which takes them");
        return Err(Error::invalid(message));
    }
    let known = || options.iter().map(|option| option.name.as_str());
    for option in codegen.open_arguments.iter().filter_map(|word| word.strip_prefix("option.")) {
        if !known().any(|name| option_word(name) == option_word(option)) {
            let hint = crate::error::suggestion(option, known());
            return Err(Error::invalid(format!(
                "{name}: codegen: open-arguments has 'option.{option}', which is no option{hint}"
            )));
        }
    }
    Ok(())
}

/// Checks that the options exist that flags of the C compiler name.
fn check_flags<'f>(
    name: &str,
    mut flags: impl Iterator<Item = &'f String>,
    options: &[OptionDecl],
) -> Result<()> {
    flags.try_for_each(|flag| {
        check_placeholders(flag, options)
            .map_err(|message| Error::invalid(format!("{name}: codegen: {message}")))
    })
}
