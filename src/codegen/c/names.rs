//! Names in generated C.

use super::words;
use crate::{
    artifact::c_identifier,
    ir::{self, Op, Val},
};
use melior::ir::operation::OperationLike;
use std::collections::{BTreeMap, BTreeSet};

/// Names that the generated code itself gives.
const OWN: [&str; 11] = [
    "status",
    "device",
    "devices",
    "handle",
    "inputs",
    "outputs",
    "constants",
    "arena",
    "memory",
    "weights",
    "pool",
];

/// Names of loop variables, from the outermost loop on.
const LOOPS: [&str; 10] = ["i", "j", "k", "l", "m", "n", "o", "p", "q", "r"];

/// Characters up to which names of a model become names of variables.
const LONGEST: usize = 40;

/// The names that a function has.
#[derive(Clone, Debug)]
pub struct Names {
    used: BTreeSet<String>,
    counts: BTreeMap<&'static str, usize>,
    /// The numbers that names with these stems go on from: a function may have thousands of them.
    next: BTreeMap<String, usize>,
}

impl Names {
    /// Names for a function in a file where those of `reserved` mean something else.
    pub fn new(reserved: &BTreeSet<String>) -> Self {
        let own = OWN.iter().chain(&LOOPS).map(|name| (*name).to_owned());
        Self {
            used: reserved.iter().cloned().chain(own).collect(),
            counts: BTreeMap::new(),
            next: BTreeMap::new(),
        }
    }

    /// A name that the function has not had yet: the stem and a number.
    pub fn numbered(&mut self, stem: &'static str) -> String {
        loop {
            let count = self.counts.entry(stem).or_default();
            *count += 1;
            let name = format!("{stem}{}", *count - 1);
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }

    /// A name like one of the model's; none if it has no letters or digits.
    pub fn like(&mut self, text: &str) -> Option<String> {
        let stem = identifier(text)?;
        // Headers own whole families of names, such as all that begin with E and a capital.
        let stem = if words::is_free(&stem) { stem } else { format!("v_{stem}") };
        if words::is_free(&stem) && self.used.insert(stem.clone()) {
            return Some(stem);
        }
        // A name with capitals only is a macro's, but for a single letter.
        let stem = if words::is_free(&format!("{stem}_2")) { stem } else { format!("v_{stem}") };
        Some(self.with_number(stem, 2))
    }

    /// A name for a structure of that type.
    pub fn of_structure(&mut self, ty: &str) -> String {
        let stem = ty.rsplit(' ').next().unwrap_or(ty).trim_end_matches("_t");
        self.with_number(stem.to_owned(), 0)
    }

    /// The stem with the first number from `least` on with which it is free.
    fn with_number(&mut self, stem: String, least: usize) -> String {
        let next = self.next.entry(stem.clone()).or_insert(least);
        loop {
            let name = format!("{stem}_{next}");
            *next += 1;
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The variable of a loop inside of so many others.
    pub fn of_loop(&self, depth: usize) -> String {
        LOOPS.get(depth).map_or_else(|| format!("i{depth}"), |name| (*name).to_owned())
    }
}

/// A C identifier like a name of the model, whose end says most; none if nothing is left of it.
fn identifier(text: &str) -> Option<String> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let joined = parts.collect::<Vec<_>>().join("_");
    let start = joined.len().saturating_sub(LONGEST);
    let end = joined[start..].trim_start_matches('_');
    let cut = match (start, end.split_once('_')) {
        (1.., Some((_, whole))) if !whole.is_empty() => whole,
        _ => end,
    };
    (!cut.is_empty()).then(|| match cut.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("n{cut}"),
        false => c_identifier(cut),
    })
}

/// The name in an operation's location; empty if that has none.
pub fn node_name(op: Op<'_>) -> String {
    name_in(&op.location().to_string())
}

/// The name in the location of a value; empty if that has none.
pub fn value_name(value: Val<'_>) -> String {
    name_in(&ir::location_of(value).to_string())
}

fn name_in(location: &str) -> String {
    let Some(rest) = location.strip_prefix("loc(\"") else { return String::new() };
    match rest.split_once('"') {
        // A quote that a position follows is a file.
        Some((name, after)) if !after.starts_with(':') => name.to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_model_become_identifiers_of_their_own() {
        let mut names = Names::new(&BTreeSet::from(["expf".to_owned()]));
        let mut like = |text: &str| names.like(text).unwrap_or_default();
        assert_eq!(like("EOF"), "v_EOF");
        assert_eq!(like("EOF"), "v_EOF_2");
        assert_eq!(like("/layer1/conv/Conv_output_0"), "layer1_conv_Conv_output_0");
        assert_eq!(like("layer1.conv.Conv_output_0"), "layer1_conv_Conv_output_0_2");
        assert_eq!(like("123"), "n123");
        assert_eq!(like("expf"), "expf_2");
        assert_eq!(like("while"), "v_while");
        assert_eq!(like("X"), "X");
        assert_eq!(like("X"), "v_X_2");
        assert_eq!(like("NULL"), "v_NULL");
        assert_eq!(like("i"), "i_2");
        assert_eq!(like("//"), "");
        assert_eq!(
            like("/model/encoder/layers/layers.11/blocks/self_attn/Add"),
            "layers_layers_11_blocks_self_attn_Add"
        );
    }

    #[test]
    fn numbered_names_keep_out_of_the_models() {
        let mut names = Names::new(&BTreeSet::new());
        assert_eq!(names.like("x0"), Some("x0".to_owned()));
        assert_eq!(names.numbered("x"), "x1");
    }
}
