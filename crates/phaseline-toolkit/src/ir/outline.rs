//! New functions, and calls of them: what passes move out of other functions.

use super::{Builder, Op, OpSpec, Val, edit, func, print};
use crate::{Error, Result};
use melior::ir::{
    Attribute, Location, Region, Type, ValueLike,
    attribute::{FlatSymbolRefAttribute, TypeAttribute},
    operation::OperationLike,
    r#type::FunctionType,
};
use std::collections::{BTreeSet, HashMap};

/// A function that is about to be made.
#[derive(Clone, Debug)]
pub struct NewFunction<'c> {
    name: String,
    is_private: bool,
    /// Types, and locations that are not the function's.
    arguments: Vec<(Type<'c>, Option<Location<'c>>)>,
    attributes: Vec<(&'static str, Attribute<'c>)>,
    /// The location of what is inside, if it is another one than that of the function.
    inside: Option<Location<'c>>,
}

impl<'c> NewFunction<'c> {
    /// A function that only its module calls.
    pub fn private(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_private: true,
            arguments: vec![],
            attributes: vec![],
            inside: None,
        }
    }

    /// A function that others may call.
    pub fn public(name: &str) -> Self {
        Self { is_private: false, ..Self::private(name) }
    }

    /// Adds arguments of these types, after those that it has.
    pub fn arguments(mut self, types: impl IntoIterator<Item = Type<'c>>) -> Self {
        self.arguments.extend(types.into_iter().map(|ty| (ty, None)));
        self
    }

    /// Adds arguments of the types of these values.
    pub fn given(self, values: &[Val<'c>]) -> Self {
        self.arguments(values.iter().map(|value| value.r#type()))
    }

    /// Adds arguments of the types and locations of these values.
    pub fn named(mut self, values: &[Val<'c>]) -> Self {
        let of = |value: &Val<'c>| (value.r#type(), Some(super::location_of(*value)));
        self.arguments.extend(values.iter().map(of));
        self
    }

    /// Sets the location of arguments and of the return, by which code and reports name them.
    pub fn located(self, location: Location<'c>) -> Self {
        Self { inside: Some(location), ..self }
    }

    /// Adds an attribute.
    pub fn with(mut self, name: &'static str, value: Attribute<'c>) -> Self {
        self.attributes.push((name, value));
        self
    }

    /// Copies these attributes of another operation, as far as it has them.
    pub fn like(mut self, other: Op<'c>, names: &[&'static str]) -> Self {
        let known = names.iter().filter_map(|name| Some((*name, other.attribute(name).ok()?)));
        self.attributes.extend(known);
        self
    }

    /// Declares the function, without a body.
    ///
    /// # Errors
    /// A type is of another session.
    pub fn declare(self, at: &Builder<'c>, results: &[Type<'c>]) -> Result<Op<'c>> {
        let arguments: Vec<_> = self.arguments.iter().map(|(ty, _)| *ty).collect();
        self.create(at, Region::new(), &arguments, results)
    }

    /// Makes the function with the body that `fill` appends, given a builder and the arguments. What `fill` gives is
    /// returned.
    ///
    /// # Errors
    /// That of `fill`, or a type is of another session.
    pub fn define<E: From<Error>>(
        self,
        at: &Builder<'c>,
        fill: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> std::result::Result<Vec<Val<'c>>, E>,
    ) -> std::result::Result<Op<'c>, E> {
        let own = self.inside.unwrap_or(at.location);
        let place =
            |(ty, location): &(Type<'c>, Option<Location<'c>>)| (*ty, location.unwrap_or(own));
        let arguments: Vec<_> = self.arguments.iter().map(place).collect();
        let region = Region::new();
        let block = edit::append_block(&region, &arguments);
        let inside = Builder::at_end(at.context, block, own);
        let results = fill(&inside, &edit::arguments(block))?;
        inside.create("func.return", OpSpec { operands: &results, ..Default::default() })?;
        let types = |values: &[Val<'c>]| values.iter().map(|v| v.r#type()).collect::<Vec<_>>();
        Ok(self.create(at, region, &types(&edit::arguments(block)), &types(&results))?)
    }

    fn create(
        self,
        at: &Builder<'c>,
        region: Region<'c>,
        arguments: &[Type<'c>],
        results: &[Type<'c>],
    ) -> Result<Op<'c>> {
        let ty = FunctionType::new(at.context, arguments, results);
        let mut attributes = vec![
            ("sym_name", at.str_attr(&self.name)),
            ("function_type", TypeAttribute::new(ty.into()).into()),
        ];
        attributes.extend(self.is_private.then(|| ("sym_visibility", at.str_attr("private"))));
        attributes.extend(self.attributes);
        at.create("func.func", OpSpec { attributes, regions: vec![region], ..Default::default() })
    }
}

/// Calls a function.
///
/// # Errors
/// An operand is of another module.
pub fn call<'c>(
    at: &Builder<'c>,
    name: &str,
    operands: &[Val<'c>],
    results: &[Type<'c>],
) -> Result<Op<'c>> {
    let callee = FlatSymbolRefAttribute::new(at.context, name).into();
    let attributes = vec![("callee", callee)];
    at.create("func.call", OpSpec { operands, results, attributes, ..Default::default() })
}

/// New functions of which equal ones are one.
#[derive(Debug, Default)]
pub struct Outliner {
    /// Names by text.
    known: HashMap<String, String>,
    taken: BTreeSet<String>,
}

impl Outliner {
    /// An outliner of a module, whose names are taken.
    pub fn of(module: Op<'_>) -> Self {
        let taken = func::functions(module).into_iter().map(func::symbol).collect();
        Self { known: HashMap::new(), taken }
    }

    /// The name of the function with the text of `made`. If there is one already, `made` is erased.
    /// Otherwise it is `made` itself, named by `name` from the number of functions so far and the
    /// text.
    ///
    /// # Errors
    /// MLIR printed text that is not UTF-8.
    pub fn once<'c>(
        &mut self,
        made: Op<'c>,
        name: impl FnOnce(usize, &str) -> String,
    ) -> Result<String> {
        let text = print::print_alone(made)?;
        if let Some(known) = self.known.get(&text) {
            edit::erase(made);
            return Ok(known.clone());
        }
        let name = func::free_symbol(name(self.known.len(), &text), &self.taken);
        let attribute =
            melior::ir::attribute::StringAttribute::new(super::context_of(made), &name).into();
        edit::set_attr(made, "sym_name", attribute);
        self.taken.insert(name.clone());
        self.known.insert(text, name.clone());
        Ok(name)
    }
}
