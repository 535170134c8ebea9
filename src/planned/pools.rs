//! Checks of the pools of a board: permitted contents, users, and size.

use super::{Memory, capacity, places, users::Users};
use crate::{
    ir::{
        Op,
        board::{self, Content, Pool},
        calls::CallGraph,
        edit, func,
        memory::of_argument,
        names,
    },
    pass::{PassError, PassResult},
};

/// Checks sizes, contents and users of each pool that the module declares.
pub fn check<'c>(module: Op<'c>) -> PassResult<'c> {
    let pools = board::declared(module)?;
    let Some(main) = func::main(module).filter(|_| !pools.is_empty()) else { return Ok(()) };
    for pool in &pools {
        let values = capacity::bytes_of(main, names::POOL_ARENA, &pool.name)?;
        capacity::check_pool(main, pool, values, peak(main, pool)?.as_deref())?;
        let constants = capacity::bytes_of(main, names::POOL_CONSTANTS, &pool.name)?;
        let there = [(values, Content::Activations), (constants, Content::Constants)];
        for (bytes, content) in there.into_iter().filter(|(bytes, _)| *bytes > 0) {
            if !pool.may_hold(content) {
                let (name, content) = (&pool.name, content.name());
                return Err(PassError::at(
                    &main,
                    format!("has {bytes} bytes of {content} in pool '{name}', which holds none"),
                ));
            }
        }
    }
    let graph = CallGraph::of(module)?;
    let users = Users::of(module, &graph)?;
    for function in graph.order.iter().filter_map(|name| graph.function(name)) {
        check_users(function, &pools, &users)?;
    }
    Ok(())
}

/// Operation that runs when most bytes of a pool are in use.
fn peak<'c>(main: Op<'c>, pool: &Pool) -> PassResult<'c, Option<String>> {
    let signature = func::Signature::of(main)?;
    let lists = signature.arguments.iter().map(|(_, list)| list);
    let mut found = lists.filter(|list| of_argument(list) == pool.name).flatten();
    let said = found.find(|(name, _)| name == names::PEAK);
    Ok(said.and_then(|(_, value)| edit::string(*value)))
}

/// Checks that all who touch what a function has in a pool reach it.
fn check_users<'c>(function: Op<'c>, pools: &[Pool], users: &Users) -> PassResult<'c> {
    for place in places(function, &edit::walk(function))? {
        let (Memory::Arena(name) | Memory::Constants(name)) = &place.memory else { continue };
        let Some(pool) = pools.iter().find(|pool| pool.name == *name) else { continue };
        let touching = users.touching(function, place.value);
        if let Some(user) = touching.iter().find(|user| !pool.is_reached_by(user)) {
            return Err(PassError::at(
                &place.op,
                format!(
                    "in '{}' is in pool '{name}', which '{user}' uses and does not reach; the pool's \
                     users are {}",
                    func::symbol(function),
                    pool.users.join(", ")
                ),
            ));
        }
    }
    Ok(())
}
