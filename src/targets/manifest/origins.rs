//! Origins of declarations that a manifest has not itself.

use super::{Source, merge::Merged};
use std::collections::BTreeMap;

/// Origins by declaration, such as `pattern conv2d`: its place, or the place of what it refines.
pub type Origins = BTreeMap<String, String>;

/// Finds the declarations of parts and bases.
pub fn declare(source: &Source, merged: &Merged) -> Origins {
    let places = source.places();
    let raw = &merged.raw;
    let options = raw.option.iter().map(|option| ("option", &option.name));
    let pools = raw.pool.iter().map(|pool| ("pool", &pool.name));
    let patterns = raw.pattern.iter().map(|pattern| ("pattern", &pattern.name));
    let ops = raw.op.iter().map(|op| ("pattern", &op.op));
    let hooks = raw.hooks.keys().map(|name| ("hook", name));
    let own = raw.phases.keys().map(|name| ("phase", name));
    let bases = merged.bases.iter().flat_map(|table| table.keys()).map(|name| ("phase", name));
    let named =
        options.chain(pools).chain(patterns).chain(ops).chain(hooks).chain(own).chain(bases);
    let mut origins = Origins::new();
    for (what, name) in named {
        if !places.is_own(source.line(&name.span())) {
            let from = format!("from {}", source.place(&name.span()));
            origins.entry(format!("{what} {}", name.get_ref())).or_insert(from);
        }
    }
    for (name, span) in &merged.refined {
        origins.insert(name.clone(), format!("refines {}", source.place(span)));
    }
    // A pipeline of its own comes before that of a base.
    for name in raw.phases.keys().filter(|name| places.is_own(source.line(&name.span()))) {
        origins.remove(&format!("phase {}", name.get_ref()));
    }
    origins
}
