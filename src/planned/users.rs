//! Targets that touch a buffer.

use crate::{
    ir::{
        self, Op, Val,
        calls::{self, CallGraph},
        edit, effects, func, memref,
        names::{DEVICE, INLINE, TARGET},
        types,
    },
    pass::PassError,
};
use melior::ir::{BlockLike, RegionLike, ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The id by which the last host goes here, whatever it is.
pub const HOST: &str = "host";

/// Ids of targets.
pub type Targets = BTreeSet<String>;

/// Targets that touch the buffers that the functions of a module are given.
pub struct Users {
    /// Id of the target that runs the network.
    host: Option<String>,
    /// For each function with a body, the targets that touch each of its arguments.
    arguments: BTreeMap<String, Vec<Targets>>,
}

impl Users {
    /// Reads the functions of a module.
    pub fn of<'c>(module: Op<'c>, graph: &CallGraph<'c>) -> Result<Self, PassError<'c>> {
        let host = func::main(module).and_then(|main| ir::attr_str(main, TARGET));
        let mut users = Self { host, arguments: BTreeMap::new() };
        for name in &graph.order {
            let Some(function) = graph.function(name) else { continue };
            let block = edit::entry_block(function);
            let arguments = block.map(edit::arguments).unwrap_or_default();
            let found = arguments.into_iter().map(|value| users.touching(function, value));
            let found = found.collect();
            users.arguments.insert(name.clone(), found);
        }
        Ok(users)
    }

    /// The target that a function runs on.
    pub fn target_of(&self, function: Op<'_>) -> String {
        self.named(ir::attr_str(function, TARGET))
    }

    fn named(&self, target: Option<String>) -> String {
        let own = target.filter(|target| self.host.as_ref() != Some(target));
        own.unwrap_or_else(|| HOST.to_owned())
    }

    /// Targets that touch a buffer of a function, in what it calls too.
    pub fn touching<'c>(&self, function: Op<'c>, buffer: Val<'c>) -> Targets {
        let own = self.target_of(function);
        let (mut found, mut seen) = (Targets::new(), HashSet::new());
        let mut work = vec![buffer];
        while let Some(value) = work.pop() {
            if !seen.insert(ir::id(value)) {
                continue;
            }
            for user in ir::users(value) {
                match self.in_call(user, value) {
                    Some(inside) => found.extend(inside),
                    None if is_free(user) => {}
                    None => found.extend(self.at(user, &own)),
                }
                work.extend(aliases(user));
            }
        }
        found
    }

    /// Targets that run an operation of a function.
    pub fn at(&self, op: Op<'_>, own: &str) -> Targets {
        let given = [DEVICE, INLINE].into_iter().filter_map(|name| ir::attr_str(op, name));
        let given = given.map(|target| self.named(Some(target)));
        given.chain([own.to_owned()]).collect()
    }

    /// Targets that touch a value that a known function is given.
    fn in_call<'c>(&self, call: Op<'c>, value: Val<'c>) -> Option<Targets> {
        let arguments = self.arguments.get(&calls::callee(call)?)?;
        let places = calls::arguments_of(call, value)?;
        Some(
            places
                .into_iter()
                .filter_map(|place| arguments.get(place))
                .flatten()
                .cloned()
                .collect(),
        )
    }
}

/// True for an operation that touches no bytes of the buffers that it has.
pub fn is_free(op: Op<'_>) -> bool {
    memref::is_alias(op) || ir::op_name(op) == "memref.dealloc"
}

/// The values through which a buffer is used behind `user`.
pub fn aliases(user: Op<'_>) -> Vec<Val<'_>> {
    let mut found: Vec<Val<'_>> = ir::results(user);
    for region in user.regions() {
        let blocks = std::iter::successors(region.first_block(), |block| block.next_in_region());
        found.extend(blocks.flat_map(edit::arguments));
    }
    let parent = user.parent_operation().filter(|_| effects::hands_on(user));
    if let Some(parent) = parent.filter(|parent| ir::op_name(*parent) != "func.func") {
        found.extend(ir::results(parent));
        for region in parent.regions() {
            found.extend(region.first_block().map(edit::arguments).unwrap_or_default());
        }
    }
    found.retain(|value| types::keeps_buffer(value.r#type()));
    found
}
