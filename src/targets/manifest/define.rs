//! Texts that patterns share: `[define]`, used as `${name}`.

use super::{super::instance::fill, Source, check_name};
use crate::{Result, error::suggestion};
use std::collections::BTreeMap;
use toml::Spanned;

/// Greatest nesting depth of definitions.
const MAX_DEPTH: usize = 16;

/// The texts by name.
pub struct Definitions(BTreeMap<String, String>);

impl Definitions {
    /// Reads and checks the definitions of a manifest.
    pub fn read(source: &Source, raw: BTreeMap<Spanned<String>, String>) -> Result<Self> {
        for name in raw.keys() {
            check_name(source, name, "a definition")?;
        }
        let texts = raw.iter().map(|(name, text)| (name.get_ref().clone(), text.clone()));
        let all = Self(texts.collect());
        for (name, text) in &raw {
            all.expanded(text, MAX_DEPTH).map_err(|reason| source.fault(&name.span(), reason))?;
        }
        Ok(all)
    }

    /// Replaces each `${name}` in a text of a pattern.
    pub fn expand(&self, source: &Source, text: &mut Spanned<String>) -> Result<()> {
        let expanded = self.expanded(text.get_ref(), MAX_DEPTH);
        *text.get_mut() = expanded.map_err(|reason| source.fault(&text.span(), reason))?;
        Ok(())
    }

    /// A text with definitions filled in; `line` is where it is.
    pub fn fill(&self, source: &Source, line: usize, text: &str) -> Result<String> {
        self.expanded(text, MAX_DEPTH).map_err(|reason| source.fault_at(line, reason))
    }

    fn expanded(&self, text: &str, depth: usize) -> Result<String, String> {
        if depth == 0 {
            return Err("definitions use one another in a circle".to_owned());
        }
        fill(text, |word| match self.0.get(word) {
            Some(text) => self.expanded(text, depth - 1),
            None => {
                let hint = suggestion(word, self.0.keys().map(String::as_str));
                Err(format!("nothing is defined as '{word}'{hint}"))
            }
        })
    }
}
