//! `schedule`: libraries of the transform dialect, of a target or of one of its patterns.

use super::{
    super::{
        file_name::Use,
        instance::check_placeholders,
        kind::{Files, ScheduleDecl},
        options::OptionDecl,
    },
    Source, files,
    raw::{RawManifest, RawPipeline},
};
use crate::Result;
use toml::Spanned;

/// A schedule as it is written, with the pattern that it is of.
type Written = (Option<String>, Spanned<RawPipeline>);

/// Takes the schedules out of a manifest.
pub fn take(raw: &mut RawManifest) -> Vec<Written> {
    let patterns = raw.pattern.iter().map(|pattern| (&pattern.name, &pattern.schedule));
    let ops = raw.op.iter().map(|op| (&op.op, &op.schedule));
    let named = patterns.chain(ops).filter_map(|(name, schedule)| {
        // One beside a call is a fault, which the pattern's own reader tells.
        schedule.clone().map(|text| (Some(name.get_ref().clone()), text))
    });
    let mut found: Vec<Written> = named.collect();
    found.extend(raw.schedule.take().map(|text| (None, text)));
    found
}

/// Reads schedules.
pub fn declare(
    source: &Source,
    written: Vec<Written>,
    folder: &Files,
    options: &[OptionDecl],
) -> Result<Vec<ScheduleDecl>> {
    let read = |(pattern, text)| one(source, pattern, text, folder, options);
    written.into_iter().map(read).collect()
}

fn one(
    source: &Source,
    pattern: Option<String>,
    raw: Spanned<RawPipeline>,
    folder: &Files,
    options: &[OptionDecl],
) -> Result<ScheduleDecl> {
    let span = raw.span();
    let (text, place) = match raw.into_inner() {
        RawPipeline::Text(text) => (text, source.place(&span)),
        RawPipeline::File(file) => {
            files::file(source, folder, &span, &file.file, Use::Pipeline)?;
            (folder.read(&file.file)?.into_owned(), folder.describe("target", &file.file))
        }
    };
    check_placeholders(&text, options)
        .map_err(|reason| source.fault(&span, format!("{place}: {reason}")))?;
    Ok(ScheduleDecl { pattern, text, place })
}
