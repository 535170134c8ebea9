//! `--log`: what the library tells by `tracing`, on standard error.

use super::data;
use crate::{Error, Result, error::suggestion};
use std::io;
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, Targets},
    fmt::{self, format::FmtSpan, time},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// Parts that can be logged by themselves: the targets of events, without `phaseline::`.
const PARTS: [&str; 12] = [
    "import",
    "partition",
    "phase",
    "pass",
    "hook",
    "process",
    "codegen",
    "package",
    "load",
    "run",
    "check",
    "measure",
];

const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// Logs what the argument, or else the environment, asks for.
pub fn install(given: Option<&str>) -> Result<()> {
    let (place, text) = match (given, data::log()) {
        (Some(text), _) => ("--log", text.to_owned()),
        (None, Some(text)) => (data::LOG, text),
        (None, None) => return Ok(()),
    };
    let filter =
        parse(&text).map_err(|fault| Error::invalid(format!("{place} '{text}': {fault}")))?;
    let lines = fmt::layer()
        .with_writer(io::stderr)
        .with_timer(time::uptime())
        .with_span_events(FmtSpan::CLOSE)
        .with_filter(filter);
    // A second one in a process has no effect.
    let _ = tracing_subscriber::registry().with(lines).try_init();
    Ok(())
}

/// Reads `info,pass=debug`.
fn parse(text: &str) -> std::result::Result<Targets, String> {
    let mut filter = Targets::new();
    for item in text.split(',').map(str::trim) {
        let level =
            |name: &str| LEVELS.iter().find(|(known, _)| *known == name).map(|(_, level)| *level);
        if let Some(level) = level(item) {
            filter = filter.with_target("phaseline", level);
            continue;
        }
        let (part, name) = item.split_once('=').unwrap_or((item, "trace"));
        let part = part.strip_prefix("phaseline::").unwrap_or(part);
        if !PARTS.contains(&part) {
            let known = LEVELS.iter().map(|(name, _)| *name).chain(PARTS);
            return Err(format!(
                "'{part}' is neither a level (error, warn, info, debug, trace, off) nor one of {}{}; \
                 an example is info,pass=debug",
                PARTS.join(", "),
                suggestion(part, known)
            ));
        }
        let level = level(name).ok_or_else(|| {
            let known = LEVELS.iter().map(|(name, _)| *name);
            format!(
                "'{name}' is no level{}; an example is info,pass=debug",
                suggestion(name, known)
            )
        })?;
        filter = filter.with_target(format!("phaseline::{part}"), level);
    }
    Ok(filter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn levels_are_of_all_or_of_a_part() {
        let filter = parse("info, pass=debug,phaseline::run=off").unwrap();
        assert!(filter.would_enable("phaseline::phase", &Level::INFO));
        assert!(!filter.would_enable("phaseline::phase", &Level::DEBUG));
        assert!(filter.would_enable("phaseline::pass", &Level::DEBUG));
        assert!(!filter.would_enable("phaseline::run", &Level::ERROR));
        assert!(!filter.would_enable("mio", &Level::ERROR));
        assert!(parse("process").unwrap().would_enable("phaseline::process", &Level::TRACE));
    }

    #[test]
    fn mistakes_are_named() {
        let fault = |text: &str| parse(text).unwrap_err();
        assert!(
            fault("verbose").starts_with("'verbose' is neither a level"),
            "{}",
            fault("verbose")
        );
        assert!(fault("pas=debug").contains("pass"), "{}", fault("pas=debug"));
        assert!(fault("pass=debg").contains("'debg' is no level"), "{}", fault("pass=debg"));
        assert!(parse("").is_err());
    }
}
