//! Messages about what a program leaves out of upstream.

/// Passes and dialects of upstream that a toolkit does not have, and what to do about it.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct LeftOut {
    /// The names of the passes.
    pub passes: &'static [&'static str],
    /// The namespaces of the dialects.
    pub dialects: &'static [&'static str],
    /// The end of a message about one of them: "run `my-opt`, which has all".
    pub remedy: &'static str,
}

impl LeftOut {
    /// Adds the remedy to a message of MLIR about a pass that is not registered.
    pub(crate) fn about_pass(&self, message: &str) -> Option<String> {
        let (before, _) = message.split_once("' does not refer to a registered pass")?;
        let (_, name) = before.rsplit_once('\'')?;
        self.passes.contains(&name).then(|| {
            format!(
                "'{name}' is a pass of upstream MLIR that this program leaves out: {}",
                self.remedy
            )
        })
    }

    /// Adds the remedy to a message of MLIR about a dialect that is not registered.
    pub(crate) fn about_dialect(&self, message: &str) -> Option<String> {
        let signs = ["not found for custom op", "unregistered dialect", "unknown dialect"];
        let is_about = |line: &str| signs.iter().any(|sign| line.contains(sign));
        let line = message.lines().find(|line| is_about(line))?;
        let name = self.dialects.iter().find(|name| {
            line.match_indices(**name).any(|(at, _)| {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
                let starts = !line[..at].ends_with(is_word);
                starts && line[at + name.len()..].starts_with(['.', '<', '\'', '"', '`', ' '])
            })
        })?;
        let place = line.split_once(": ").map_or("", |(place, _)| place);
        let place = if place.contains(':') { format!("{place}: ") } else { String::new() };
        Some(format!(
            "{place}'{name}' is a dialect of upstream MLIR that this program leaves out: {}",
            self.remedy
        ))
    }
}
