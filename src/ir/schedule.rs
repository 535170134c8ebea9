//! Schedules in the transform dialect: how they are kept in a module, and applied.

use super::{
    Builder, Op, attr_str, context_of, edit, func,
    names::{OPTION, PATTERN, SCHEDULES, TARGET},
    ops_of, parse_module,
    print::print_alone,
    root, schedule_parameters,
};
use crate::{Error, Result};
use melior::ir::{Attribute, Module, attribute::ArrayAttribute, operation::OperationLike};
use mlir_sys as sys;

/// The sequence that a library begins with, unless it has one of the pattern's name.
const ENTRY: &str = "__transform_main";

/// A schedule that a module carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Id of the target whose functions it is for.
    pub target: String,
    /// The pattern whose operations it is for; all of the target's if `None`.
    pub pattern: Option<String>,
    /// The library, with options filled in.
    pub text: String,
    /// Name of the library in messages.
    pub place: String,
    /// Values for parameters of its sequence: names, and values as attributes are written. Kept
    /// only if the library has parameters.
    pub options: Vec<(String, String)>,
}

impl Schedule {
    /// Writes schedules on a module.
    pub fn write<'c>(module: Op<'c>, schedules: &[Self]) -> Result<()> {
        let block = edit::entry_block(module).ok_or_else(|| Error::internal("an empty module"))?;
        let b = Builder::at_end(context_of(module), block, module.location());
        let entry = |schedule: &Self| -> Result<Attribute<'c>> {
            let pattern = schedule.pattern.clone().unwrap_or_default();
            let fields = [
                ("target", schedule.target.as_str()),
                ("pattern", &pattern),
                ("text", &schedule.text),
                ("place", &schedule.place),
            ];
            let fields = fields.map(|(name, text)| (name.to_owned(), b.str_attr(text)));
            let mut fields = fields.to_vec();
            if schedule.text.contains(OPTION) {
                let values = schedule.options.iter();
                let values = values.map(|(name, text)| Ok((name.clone(), b.parse_attr(text)?)));
                let values = edit::dictionary_attr(b.context, &values.collect::<Result<Vec<_>>>()?);
                fields.push(("options".to_owned(), values));
            }
            Ok(edit::dictionary_attr(b.context, &fields))
        };
        let entries: Vec<_> = schedules.iter().map(entry).collect::<Result<_>>()?;
        edit::set_attr(module, SCHEDULES, ArrayAttribute::new(b.context, &entries).into());
        Ok(())
    }

    /// The schedules that a module carries.
    pub fn all(module: Op<'_>) -> Vec<Self> {
        let entries = module.attribute(SCHEDULES).map(edit::array).unwrap_or_default();
        let read = |entry: Attribute<'_>| {
            let fields = edit::dictionary(entry);
            let text = |name: &str| {
                let field = fields.iter().find(|(known, _)| known == name);
                field.and_then(|(_, value)| edit::string(*value)).unwrap_or_default()
            };
            Self {
                target: text("target"),
                pattern: Some(text("pattern")).filter(|name| !name.is_empty()),
                text: text("text"),
                place: text("place"),
                options: fields
                    .iter()
                    .find(|(known, _)| known == "options")
                    .map(|(_, values)| edit::dictionary(*values))
                    .unwrap_or_default()
                    .into_iter()
                    .map(|(name, value)| (name, value.to_string()))
                    .collect(),
            }
        };
        entries.into_iter().map(read).collect()
    }

    /// Applies it to the functions of its target.
    ///
    /// # Errors
    /// The library cannot be read, a step of it fails, or it changes nothing. MLIR's messages about
    /// a step are diagnostics.
    pub fn apply(&self, module: Op<'_>) -> Result<()> {
        let fault = |reason: String| Err(Error::invalid(format!("{} {reason}", self.what())));
        let library = parse_module(context_of(module), self.text.as_bytes(), &self.place);
        let Some(library) = library else {
            return fault("is no library of the transform dialect".to_owned());
        };
        let Some(sequence) = self.sequence(&library) else {
            return fault(format!("has no sequence @{ENTRY}"));
        };
        let b = Builder::before(sequence)?;
        let options =
            self.options.iter().map(|(name, text)| Ok((name.clone(), b.parse_attr(text)?)));
        schedule_parameters::bind(sequence, &options.collect::<Result<Vec<_>>>()?)
            .map_err(|error| Error::invalid(format!("{} {error}", self.what())))?;
        let mut found = false;
        let mut changed = false;
        for function in func::functions(module) {
            if attr_str(function, TARGET).as_ref() != Some(&self.target) || !self.is_for(function) {
                continue;
            }
            found = true;
            let before = print_alone(function)?;
            if !apply(function, sequence, &library) {
                return fault(format!("fails on @{}", func::symbol(function)));
            }
            changed |= print_alone(function)? != before;
        }
        match (found, changed) {
            (_, true) => Ok(()),
            (true, false) => fault(
                "matches nothing: the functions of the target are as before; `--emit=lower` shows what \
                 there is to match"
                    .to_owned(),
            ),
            (false, false) => fault(
                "is for operations that are not there any more: elementwise ones are part of others' loops \
                 by then; `--emit=lower` shows what there is to match"
                    .to_owned(),
            ),
        }
    }

    fn what(&self) -> String {
        let pattern = self.pattern.as_ref();
        let pattern = pattern.map(|name| format!(" of pattern '{name}'")).unwrap_or_default();
        format!("target '{}': schedule {}{pattern}", self.target, self.place)
    }

    /// True if a function has operations that it is for.
    fn is_for(&self, function: Op<'_>) -> bool {
        if edit::entry_block(function).is_none() {
            return false;
        }
        let Some(pattern) = &self.pattern else { return true };
        edit::walk(function).into_iter().any(|op| attr_str(op, PATTERN).as_ref() == Some(pattern))
    }

    /// The sequence of the pattern's name, or the usual one.
    fn sequence<'m>(&self, library: &'m Module<'_>) -> Option<Op<'m>> {
        let sequences = ops_of(root(library));
        let named = |name: &str| {
            let is = |op: &&Op<'m>| {
                super::op_name(**op) == "transform.named_sequence" && func::symbol(**op) == name
            };
            sequences.iter().find(is).copied()
        };
        self.pattern
            .as_deref()
            .and_then(|name| named(&name.replace('-', "_")))
            .or_else(|| named(ENTRY))
    }
}

/// Runs a sequence of a library on an operation.
fn apply(payload: Op<'_>, sequence: Op<'_>, library: &Module<'_>) -> bool {
    // SAFETY: all operations are live; the options live until they are destroyed.
    unsafe {
        let options = sys::mlirTransformOptionsCreate();
        let result = sys::mlirTransformApplyNamedSequence(
            payload.to_raw(),
            sequence.to_raw(),
            library.as_operation().to_raw(),
            options,
        );
        sys::mlirTransformOptionsDestroy(options);
        result.value != 0
    }
}
