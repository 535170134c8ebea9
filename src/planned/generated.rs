//! Numbers of a plan in generated code: sizes that are written in several places, and constant
//! distances from the start of a block of memory.

use super::Memory;
use crate::{
    artifact::{PoolUse, Signature, recorded_signature},
    ir::{
        self, Op, Val, edit, func,
        memory::of_argument,
        names::{self, ARENA_BYTES, CONSTANTS, IO, symbol_name},
        size,
    },
    pass::{PassError, PassResult},
};
use melior::ir::{Attribute, AttributeLike, Type, ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// The bytes of a constant, from its type.
pub fn size_of(value: Attribute<'_>) -> u64 {
    size::bytes(value.r#type()).unwrap_or_default()
}

/// Checks the code of the targets against the module's signature; a module that is not divided yet
/// has neither.
pub fn check<'c>(module: Op<'c>) -> PassResult<'c> {
    let parts: Vec<_> =
        ir::ops_of(module).into_iter().filter(|op| op.has_attribute(names::TARGET)).collect();
    let divided = parts.iter().any(|part| ir::op_name(*part) == "builtin.module");
    if !divided {
        return Ok(());
    }
    let signature = recorded_signature(module)?;
    let data = module.attribute(CONSTANTS).map(|value| size_of(value)).unwrap_or_default();
    if signature.constants_bytes as u64 != data {
        return Err(PassError::new(format!(
            "phl.signature has {} bytes of constants, but {CONSTANTS} has {data}",
            signature.constants_bytes
        )));
    }
    for part in parts {
        for function in ir::ops_of(part) {
            match ir::op_name(function) {
                "llvm.func" => check_llvm(function, &signature)?,
                // Places in it are checked as before code generation.
                "func.func" => drop(arena_of(function, "main", &signature)?),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The arena of a function, which is the signature's for the one that is the network.
fn arena_of<'c>(function: Op<'c>, main: &str, signature: &Signature) -> PassResult<'c, u64> {
    let name = func::symbol(function);
    let arena = ir::attr_i64(function, ARENA_BYTES).unwrap_or_default().max(0) as u64;
    if name == symbol_name(&signature.name, main) && arena != signature.arena_bytes as u64 {
        return Err(PassError::at(
            &function,
            format!(
                "'{name}' has an arena of {arena} bytes ({ARENA_BYTES}), but phl.signature has {}",
                signature.arena_bytes
            ),
        ));
    }
    Ok(arena)
}

fn check_llvm<'c>(function: Op<'c>, signature: &Signature) -> PassResult<'c> {
    let Some(block) = edit::entry_block(function) else { return Ok(()) };
    let arena = arena_of(function, "main", signature)?;
    let lists = function.attribute("arg_attrs").map(edit::array).unwrap_or_default();
    for (argument, list) in edit::arguments(block).into_iter().zip(lists) {
        let attributes = edit::dictionary(list);
        let role = attributes.iter().find(|(name, _)| name == IO).map(|(_, value)| *value);
        let pool = of_argument(&attributes);
        let in_pool = |bytes: fn(&PoolUse) -> usize| {
            let found = signature.pools.iter().find(|known| known.name == pool);
            found.map_or(0, |known| bytes(known) as u64)
        };
        let (memory, bytes) = match role.and_then(edit::string).as_deref() {
            Some("arena") => (Memory::Arena(String::new()), arena),
            Some("constants") => {
                (Memory::Constants(String::new()), signature.constants_bytes as u64)
            }
            // Pieces of other functions are given frames, which are smaller.
            Some(names::POOL_ARENA) => {
                (Memory::Arena(pool.clone()), in_pool(|pool| pool.values_bytes))
            }
            Some(names::POOL_CONSTANTS) => {
                (Memory::Constants(pool.clone()), in_pool(|pool| pool.constants_bytes))
            }
            _ => continue,
        };
        for (op, offset) in addresses(argument) {
            if u64::try_from(offset).ok().is_none_or(|offset| offset > bytes) {
                return Err(outside(function, op, &memory, offset, bytes));
            }
        }
    }
    Ok(())
}

fn outside<'c>(
    function: Op<'c>,
    op: Op<'c>,
    memory: &Memory,
    offset: i64,
    bytes: u64,
) -> PassError<'c> {
    let name = func::symbol(function);
    PassError::at(&op, format!("in '{name}' takes byte {offset} of {memory}, which has {bytes}"))
}

/// The operations that compute addresses at constant distances from a pointer, through the structs
/// that stand for buffers.
fn addresses<'c>(start: Val<'c>) -> Vec<(Op<'c>, i64)> {
    let mut found = vec![];
    let mut seen = HashSet::new();
    let mut work = vec![start];
    while let Some(value) = work.pop() {
        if !seen.insert(ir::id(value)) {
            continue;
        }
        for user in ir::users(value) {
            match ir::op_name(user) {
                "llvm.insertvalue" => work.extend(ir::results(user)),
                "llvm.extractvalue" => {
                    let pointers = ir::results(user).into_iter();
                    work.extend(pointers.filter(|value| is_pointer(value.r#type())));
                }
                "llvm.getelementptr" => found.extend(distance(user, value).map(|at| (user, at))),
                _ => {}
            }
        }
    }
    found
}

fn is_pointer(ty: Type<'_>) -> bool {
    ty.to_string().starts_with("!llvm.ptr")
}

/// Bytes by which `op` moves a pointer, if they are constant.
fn distance<'c>(op: Op<'c>, base: Val<'c>) -> Option<i64> {
    let operands = ir::operands(op);
    let element = op.attribute("elem_type").ok()?.to_string();
    if element != "i8" || operands.first() != Some(&base) {
        return None;
    }
    let index = edit::defining_op(*operands.get(1)?)?;
    ir::attr_i64(index, "value")
}
