//! Friendlier names for operations under a condition: `conv2d` is `conv` of rank 4.
//!
//! The conditions are ordinary predicates, in which `self` is the operation.

use crate::expr::{Expr, PatternResult};

/// A name that stands for operations under conditions.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The name.
    pub name: &'static str,
    /// The operations it stands for.
    pub ops: &'static [&'static str],
    /// The conditions.
    pub guards: &'static [&'static str],
}

const ALIASES: [Alias; 13] = [
    Alias { name: "conv1d", ops: &["conv"], guards: &["self.x.rank == 3"] },
    Alias { name: "conv2d", ops: &["conv"], guards: &["self.x.rank == 4"] },
    Alias { name: "conv3d", ops: &["conv"], guards: &["self.x.rank == 5"] },
    Alias {
        name: "depthwise_conv2d",
        ops: &["conv"],
        guards: &["self.x.rank == 4", "self.group > 1", "self.group == self.x.shape[1]"],
    },
    Alias { name: "conv1d_transpose", ops: &["conv_transpose"], guards: &["self.x.rank == 3"] },
    Alias { name: "conv2d_transpose", ops: &["conv_transpose"], guards: &["self.x.rank == 4"] },
    Alias { name: "max_pool1d", ops: &["max_pool"], guards: &["self.x.rank == 3"] },
    Alias { name: "max_pool2d", ops: &["max_pool"], guards: &["self.x.rank == 4"] },
    Alias { name: "average_pool1d", ops: &["average_pool"], guards: &["self.x.rank == 3"] },
    Alias { name: "average_pool2d", ops: &["average_pool"], guards: &["self.x.rank == 4"] },
    Alias {
        name: "dense",
        ops: &["gemm", "matmul"],
        guards: &[
            "self.a.rank == 2 and self.b.rank == 2",
            "self.name == 'matmul' or self.alpha == 1 and self.beta == 1 and not self.trans_a",
        ],
    },
    Alias {
        name: "batch_matmul",
        ops: &["matmul"],
        guards: &["self.a.rank >= 3", "self.b.rank == self.a.rank"],
    },
    Alias {
        name: "relu6",
        ops: &["clip"],
        guards: &["self.min.value == 0", "self.max.value == 6"],
    },
];

impl Alias {
    /// The alias of this name.
    pub fn get(name: &str) -> Option<&'static Alias> {
        ALIASES.iter().find(|alias| alias.name == name)
    }

    /// All aliases.
    pub fn all() -> &'static [Alias] {
        &ALIASES
    }

    /// The conditions as expressions.
    pub fn guard_exprs(&self) -> PatternResult<Vec<Expr>> {
        let within = format!("alias '{}'", self.name);
        self.guards.iter().map(|text| Expr::parse(text).map_err(|e| e.within(&within))).collect()
    }
}
