//! Analyses that passes ask for and keep: dominance, liveness, the call graph, symbols.
//!
//! They hold no handles, only identities and names. Their answers on an operation that has gone are
//! of no use, and do no harm. The method [`crate::pass::PassCx::analysis`] computes an analysis
//! once, for this pass and for those behind it that find it preserved.

use super::{Blk, Id, Op, Val, func, id};
use crate::{Result, ffi};
use melior::ir::{Attribute, AttributeLike, ValueLike, block::BlockLike, operation::OperationLike};
use mlir_sys as sys;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ffi::c_void,
};

/// Something that is known of an operation and of what is in it.
pub trait Analysis: Send + Sized + 'static {
    /// Computes it.
    ///
    /// # Errors
    /// It cannot be computed of this operation.
    fn of(op: Op<'_>) -> Result<Self>;
}

/// The order of operations: those that run before, or behind, others on every way.
#[derive(Debug)]
pub struct Dominance {
    before: ffi::PhlDominance,
    behind: ffi::PhlDominance,
}

// SAFETY: it is two tables of its own, which one thread at a time asks: it is not `Sync`.
unsafe impl Send for Dominance {}

impl Analysis for Dominance {
    fn of(op: Op<'_>) -> Result<Self> {
        // SAFETY: the operation is live. MLIR fills the tables by and by, as they are asked.
        let create = |post| unsafe { ffi::phlDominanceCreate(op.to_raw(), post) };
        Ok(Self { before: create(false), behind: create(true) })
    }
}

impl Drop for Dominance {
    fn drop(&mut self) {
        // SAFETY: both are this one's own.
        unsafe {
            ffi::phlDominanceDestroy(self.before, false);
            ffi::phlDominanceDestroy(self.behind, true);
        }
    }
}

impl Dominance {
    /// True if each way to `b` goes through `a`, or they are one.
    pub fn dominates(&self, a: Op<'_>, b: Op<'_>) -> bool {
        let placed = a.block().is_some() && b.block().is_some();
        // SAFETY: both are live operations in blocks.
        placed && unsafe { ffi::phlDominates(self.before, false, a.to_raw(), b.to_raw()) }
    }

    /// True if each way from `b` goes through `a`, or they are one.
    pub fn post_dominates(&self, a: Op<'_>, b: Op<'_>) -> bool {
        let placed = a.block().is_some() && b.block().is_some();
        // SAFETY: both are live operations in blocks.
        placed && unsafe { ffi::phlDominates(self.behind, true, a.to_raw(), b.to_raw()) }
    }

    /// True if an operation may use a value.
    pub fn reaches(&self, value: Val<'_>, op: Op<'_>) -> bool {
        // SAFETY: both are live.
        op.block().is_some()
            && unsafe { ffi::phlValueDominates(self.before, value.to_raw(), op.to_raw()) }
    }
}

/// The values that are used behind the begin or the end of a block.
#[derive(Debug, Default)]
pub struct Liveness {
    ins: HashSet<(Id, Id)>,
    outs: HashSet<(Id, Id)>,
}

impl Analysis for Liveness {
    fn of(op: Op<'_>) -> Result<Self> {
        unsafe extern "C" fn live(
            block: sys::MlirBlock,
            value: sys::MlirValue,
            is_out: bool,
            user: *mut c_void,
        ) {
            // SAFETY: MLIR tells live parts; `user` is the analysis below.
            unsafe {
                let found = &mut *user.cast::<Liveness>();
                let list = if is_out { &mut found.outs } else { &mut found.ins };
                list.insert((id(Blk::from_raw(block)), id(Val::from_raw(value))));
            }
        }
        let mut found = Self::default();
        // SAFETY: the operation is live, and the analysis outlives the call.
        unsafe { ffi::phlLiveness(op.to_raw(), Some(live), (&raw mut found).cast()) };
        Ok(found)
    }
}

impl Liveness {
    /// True if a value from outside of a block is used in it or behind it.
    pub fn is_live_in(&self, value: Val<'_>, block: Blk<'_>) -> bool {
        self.ins.contains(&(id(block), id(value)))
    }

    /// True if a value is used behind the end of a block.
    pub fn is_live_out(&self, value: Val<'_>, block: Blk<'_>) -> bool {
        self.outs.contains(&(id(block), id(value)))
    }

    /// True if nothing behind an operation uses a value.
    pub fn is_dead_behind(&self, value: Val<'_>, op: Op<'_>) -> bool {
        let Some(block) = op.block() else { return false };
        if self.is_live_out(value, block) {
            return false;
        }
        // Users in regions count at the operation of the block that they are in.
        let in_block = |user: Op<'_>| {
            std::iter::successors(Some(user), |user| user.parent_operation())
                .find(|around| {
                    around.block().is_some_and(|own| own.to_raw().ptr == block.to_raw().ptr)
                })
                .is_some_and(|around| super::edit::is_before(op, around))
        };
        !super::users(value).into_iter().any(in_block)
    }
}

/// The calls between functions, by the names of their symbols.
#[derive(Debug, Default)]
pub struct CallGraph {
    callees: BTreeMap<String, BTreeSet<String>>,
    unknown: BTreeSet<String>,
}

impl Analysis for CallGraph {
    fn of(op: Op<'_>) -> Result<Self> {
        unsafe extern "C" fn call(
            caller: sys::MlirOperation,
            _: sys::MlirOperation,
            callee: sys::MlirOperation,
            user: *mut c_void,
        ) {
            let name = |op: sys::MlirOperation| {
                // SAFETY: MLIR tells live operations, or null.
                (!op.ptr.is_null()).then(|| func::symbol(unsafe { Op::from_raw(op) }))
            };
            let (Some(caller), callee) = (name(caller), name(callee)) else { return };
            // SAFETY: `user` is the analysis below.
            let found = unsafe { &mut *user.cast::<CallGraph>() };
            match callee {
                Some(callee) => found.callees.entry(caller).or_default().insert(callee),
                None => found.unknown.insert(caller),
            };
        }
        let mut found = Self::default();
        // SAFETY: the operation is live, and the analysis outlives the call.
        unsafe { ffi::phlCallGraph(op.to_raw(), Some(call), (&raw mut found).cast()) };
        Ok(found)
    }
}

impl CallGraph {
    /// The functions that a function calls, by name.
    pub fn callees(&self, function: &str) -> impl Iterator<Item = &str> {
        self.callees.get(function).into_iter().flatten().map(String::as_str)
    }

    /// The functions that call a function, by name.
    pub fn callers<'a>(&'a self, function: &'a str) -> impl Iterator<Item = &'a str> {
        let calls = self.callees.iter().filter(move |(_, callees)| callees.contains(function));
        calls.map(|(caller, _)| caller.as_str())
    }

    /// True if a function calls something of which is not known what it is.
    pub fn calls_unknown(&self, function: &str) -> bool {
        self.unknown.contains(function)
    }

    /// True if a function may call itself, by way of others too.
    pub fn is_recursive(&self, function: &str) -> bool {
        let (mut seen, mut work) = (BTreeSet::new(), vec![function]);
        while let Some(caller) = work.pop() {
            for callee in self.callees(caller) {
                if callee == function {
                    return true;
                }
                if seen.insert(callee) {
                    work.push(callee);
                }
            }
        }
        false
    }
}

/// Names of symbols in an operation, such as a module, and their users.
#[derive(Debug, Default)]
pub struct Symbols {
    known: BTreeMap<String, Id>,
    used: BTreeSet<String>,
}

impl Analysis for Symbols {
    fn of(op: Op<'_>) -> Result<Self> {
        let symbols = super::ops_of(op).into_iter();
        let named = symbols.map(|op| (func::symbol(op), id(op)));
        let known = named.filter(|(name, _)| !name.is_empty()).collect();
        let mut used = BTreeSet::new();
        for inner in super::edit::walk(op) {
            inner.attributes().for_each(|(_, attribute)| names(attribute, &mut used));
        }
        Ok(Self { known, used })
    }
}

/// Adds the symbols that an attribute names, also inside of lists.
fn names(attribute: Attribute<'_>, used: &mut BTreeSet<String>) {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first; the name lives as long as the context.
    unsafe {
        if sys::mlirAttributeIsASymbolRef(raw) {
            used.insert(super::text(sys::mlirSymbolRefAttrGetRootReference(raw)));
        }
    }
    super::edit::array(attribute).into_iter().for_each(|inner| names(inner, used));
    super::edit::dictionary(attribute).into_iter().for_each(|(_, inner)| names(inner, used));
}

impl Symbols {
    /// The operation of a name in `within`, which the analysis is of.
    pub fn find<'c>(&self, within: Op<'c>, name: &str) -> Option<Op<'c>> {
        let wanted = self.known.get(name)?;
        super::ops_of(within).into_iter().find(|op| id(*op) == *wanted)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    /// True if an attribute of an operation names a symbol.
    pub fn is_used(&self, name: &str) -> bool {
        self.used.contains(name)
    }
}

/// An answer about the memory of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// No memory in common.
    No,
    /// Memory in common is possible.
    May,
    /// Memory in common, in part.
    Partial,
    /// The same memory.
    Must,
}

/// Asks MLIR's alias analyses of two values. They are of the same IR, which is verified before.
///
/// # Errors
/// The values are of two sessions, or the IR around them is not valid.
pub fn alias<'c>(a: Val<'c>, b: Val<'c>) -> Result<Alias> {
    super::origin::check_home(&a, &b, || "a value".to_owned())?;
    let place = |value: Val<'c>| match super::edit::defining_op(value) {
        Some(op) => Some(op),
        None => super::edit::owner_block(value).and_then(|(block, _)| block.parent_operation()),
    };
    let Some(op) = place(a).or_else(|| place(b)) else { return Ok(Alias::May) };
    let root = std::iter::successors(Some(op), |op| op.parent_operation()).last().unwrap_or(op);
    // Functions are verified by themselves: the one around both has all that is asked of.
    let isolated = std::iter::successors(Some(op), |op| op.parent_operation());
    let function = isolated.into_iter().find(|op| !func::symbol(*op).is_empty());
    if !super::verify(function.unwrap_or(root)) {
        return Err(crate::Error::invalid("the IR around two values is not valid"));
    }
    // SAFETY: all are live.
    Ok(match unsafe { ffi::phlAlias(root.to_raw(), a.to_raw(), b.to_raw()) } {
        ffi::PhlAlias::PHL_ALIAS_NONE => Alias::No,
        ffi::PhlAlias::PHL_ALIAS_MUST => Alias::Must,
        ffi::PhlAlias::PHL_ALIAS_PARTIAL => Alias::Partial,
        _ => Alias::May,
    })
}
