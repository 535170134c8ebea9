//! Header text for the pools of a board.

use super::bound;
use crate::artifact::{PoolUse, Port, PortPlace, Signature};
use std::fmt::Write as _;

/// The start of the macros of a pool.
fn prefix(signature: &Signature, pool: &PoolUse) -> String {
    format!("{}_POOL_{}", signature.name.to_uppercase(), pool.name.to_uppercase())
}

/// Places and sizes.
pub fn macros(signature: &Signature) -> String {
    let guard = signature.name.to_uppercase();
    let mut text = format!(
        "\
/* The memory of the board, pool by pool. For the working memory of a run, the caller provides a block
 * of _BYTES in each pool that has any, and the address of each, by its place, in an array. The
 * constants of a pool are a read-only block of the package, whose section a linker script places. */
#define {guard}_NUM_POOLS {}
",
        signature.pools.len()
    );
    for (index, pool) in signature.pools.iter().enumerate() {
        let prefix = prefix(signature, pool);
        let bound = bound(pool.lower_bound, &pool.peak);
        let _ = write!(
            text,
            "
/* {} of {} bytes.{bound} */
#define {prefix} {index}
#define {prefix}_BYTES {}
#define {prefix}_ALIGNMENT {}
#define {prefix}_CONSTANTS_BYTES {}
",
            pool.name, pool.capacity, pool.values_bytes, pool.alignment, pool.constants_bytes,
        );
    }
    text
}

/// Lines that show how the memory is provided.
pub fn usage(signature: &Signature) -> Vec<String> {
    let mut lines = vec![];
    let block = |pool: &PoolUse| format!("{}_memory", pool.name);
    for pool in signature.pools.iter().filter(|pool| pool.values_bytes > 0) {
        let (prefix, block) = (prefix(signature, pool), block(pool));
        lines.push(format!(
            "static _Alignas({prefix}_ALIGNMENT) unsigned char {block}[{prefix}_BYTES];"
        ));
    }
    let address = |pool: &PoolUse| if pool.values_bytes > 0 { block(pool) } else { "0".to_owned() };
    let list: Vec<_> = signature.pools.iter().map(address).collect();
    let count = format!("{}_NUM_POOLS", signature.name.to_uppercase());
    lines.push(format!("void *const pools[{count}] = {{{}}};", list.join(", ")));
    lines
}

/// The declarations of the constants.
pub fn constants(signature: &Signature) -> String {
    let mut text = String::new();
    for pool in signature.pools.iter().filter(|pool| pool.constants_bytes > 0) {
        let symbol = signature.constants_symbol(pool);
        let _ = write!(
            text,
            "\n/* The weights in {}, in the section .rodata.{symbol}. */\nextern const unsigned char {symbol}[];\n",
            pool.name
        );
    }
    text
}

/// The array of their addresses.
pub fn addresses(signature: &Signature) -> String {
    let list: Vec<_> = signature
        .pools
        .iter()
        .map(|pool| match pool.constants_bytes {
            0 => "0".to_owned(),
            _ => signature.constants_symbol(pool),
        })
        .collect();
    format!("  const void *const model_constants[] = {{{}}};\n", list.join(", "))
}

/// Names that are taken.
pub fn names(signature: &Signature) -> impl Iterator<Item = String> {
    let blocks = signature.pools.iter().map(|pool| format!("{}_memory", pool.name));
    blocks.chain(signature.pools.iter().map(|pool| signature.constants_symbol(pool)))
}

/// Macros for the place of an input or output, if it is in a pool.
pub fn place(guard: &str, prefix: &str, port: &Port) -> String {
    let Some(PortPlace { pool, offset }) = &port.place else { return String::new() };
    let pool = pool.to_uppercase();
    format!("#define {prefix}_POOL {guard}_POOL_{pool}\n#define {prefix}_OFFSET {offset}\n")
}

/// The line that shows its address.
pub fn port(prefix: &str, place: &PortPlace, ty: &str, name: &str) -> String {
    format!("{ty} *{name} = ({ty} *)({}_memory + {prefix}_OFFSET);", place.pool)
}
