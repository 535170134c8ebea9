//! C code of accelerators and of the host `c`: from structured operations on planned buffers
//! through C text ([`print()`]) and a C compiler to object files.
//!
//! The function [`print()`] prints a module, `function` a function, `statement` a block. Below
//! these are the printers of one operation (`arith`, `call`, `math`, `memory`), the state of the
//! function that is written (`writer`, `names`), and text (`scalar`, `expression`, `words`).

pub mod arith;
pub mod blob;
pub mod call;
pub mod cast;
pub mod compare;
pub mod compile;
pub mod context;
pub mod declare;
pub mod emission;
pub mod expression;
pub mod format;
pub mod function;
pub mod helpers;
pub mod inlined;
pub mod kernel;
pub mod math;
pub mod memory;
pub mod names;
pub mod opening;
pub mod print;
pub mod scalar;
pub mod session;
pub mod statement;
pub mod target;
pub mod tool;
pub mod vendor;
pub mod words;
pub mod writer;

pub use compile::{COptions, compile};
pub use print::print;
