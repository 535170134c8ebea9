//! Data that a context carries besides what is MLIR's own.

use super::{
    Op,
    blob::Blobs,
    body::Bodies,
    shared::{self, thread},
};
use crate::ffi;
use melior::{Context, ir::operation::OperationLike};
use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A count of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistic {
    /// The pass.
    pub pass: &'static str,
    /// The name of the count.
    pub name: &'static str,
    /// A line about it.
    pub about: &'static str,
    /// The count.
    pub value: u64,
}

/// Data that passes find by their context.
pub struct Carried {
    /// Number of times that each name of a constant was given out.
    names: Mutex<HashMap<String, usize>>,
    /// The data of constants that were made from Rust.
    blobs: Mutex<Blobs>,
    /// Pipelines that run.
    running: AtomicUsize,
    /// Addresses of operations that were taken out of the IR while handles of them may be in use.
    removed: Mutex<Vec<usize>>,
    /// Namespaces of dialects whose inference of types looks itself at what declarations do not say.
    careful: Vec<String>,
    /// Verifiers, folds and rules of operations.
    bodies: Bodies,
    /// Operations are what they declare to be whenever their effects are asked for.
    trusts: bool,
    /// Token that asks the work on the context to stop.
    cancel: Mutex<Option<Cancel>>,
    /// Counts of passes, by pass and name.
    statistics: Mutex<BTreeMap<(&'static str, &'static str), Statistic>>,
    /// Errors that were emitted where nothing can be returned. MLIR may ask again, of what is as it was.
    complained: Mutex<BTreeSet<String>>,
    /// Value of the context's user.
    user: Box<dyn Any + Send + Sync>,
    /// The copy of this crate that the value is from.
    copy: usize,
}

impl Carried {
    /// Takes a value of the context's user, namespaces of dialects, and the bodies of operations.
    /// Those dialects' inference of types trusts nothing that their declarations do not say.
    pub(crate) fn new(
        user: Box<dyn Any + Send + Sync>,
        careful: Vec<String>,
        bodies: Bodies,
        trusts: bool,
    ) -> Self {
        Self {
            names: Mutex::default(),
            blobs: Mutex::default(),
            running: AtomicUsize::new(0),
            removed: Mutex::default(),
            careful,
            bodies,
            trusts,
            cancel: Mutex::default(),
            statistics: Mutex::default(),
            complained: Mutex::default(),
            user,
            copy: shared::copy(),
        }
    }

    /// Lets all that has the context find this.
    ///
    /// # Safety
    /// It stays at its address as long as the context lives. It changes only while nothing of the
    /// context is in use.
    pub unsafe fn attach(&self, context: &Context) {
        // SAFETY: the caller's contract.
        unsafe { ffi::phlContextSetUser(context.to_raw(), std::ptr::from_ref(self).cast()) };
    }

    /// The user's value, if it is of that type. A plugin has none: its types are not the program's, also where they have
    /// one name.
    pub fn user<T: Any>(&self) -> Option<&T> {
        (self.copy == shared::copy()).then(|| self.user.downcast_ref())?
    }

    /// The user's value, to be changed.
    pub fn user_mut<T: Any>(&mut self) -> Option<&mut T> {
        (self.copy == shared::copy()).then(|| self.user.downcast_mut())?
    }

    /// Verifiers, folds and rules of operations.
    pub(crate) fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// Adds to a count of a pass.
    pub(crate) fn count(
        &self,
        pass: &'static str,
        (name, about): (&'static str, &'static str),
        more: u64,
    ) {
        let mut all = lock(&self.statistics);
        let counted = all.entry((pass, name)).or_insert(Statistic { pass, name, about, value: 0 });
        counted.value = counted.value.saturating_add(more);
    }

    /// Takes the counts of passes, by pass and name.
    pub fn take_statistics(&self) -> Vec<Statistic> {
        std::mem::take(&mut *lock(&self.statistics)).into_values().collect()
    }

    /// True if an error was emitted where nothing can be returned, since this was asked.
    pub fn has_complained(&self) -> bool {
        !std::mem::take(&mut *lock(&self.complained)).is_empty()
    }

    /// Sets the token that stops work in the context.
    pub fn set_cancel(&self, cancel: Option<Cancel>) {
        *lock(&self.cancel) = cancel;
    }

    /// The token that tells it.
    pub fn cancel(&self) -> Option<Cancel> {
        lock(&self.cancel).clone()
    }

    /// Forgets the names and the data of constants, for a new context.
    pub fn forget_constants(&self) {
        lock(&self.names).clear();
        *lock(&self.blobs) = Blobs::default();
    }

    /// The data of constants that were made from Rust.
    pub(crate) fn blobs(&self) -> MutexGuard<'_, Blobs> {
        lock(&self.blobs)
    }

    /// Notes that a pipeline runs, until what it gives is dropped.
    pub fn running(&self) -> Running<'_> {
        self.running.fetch_add(1, Ordering::SeqCst);
        Running(self)
    }

    /// True if a pipeline runs.
    pub(crate) fn runs(&self) -> bool {
        self.running.load(Ordering::SeqCst) > 0
    }

    /// Destroys the operations that were removed.
    ///
    /// # Safety
    /// Their context lives, and nothing of it is in use.
    pub unsafe fn destroy_removed(&self) {
        let removed = std::mem::take(&mut *lock(&self.removed));
        for address in removed {
            let op = mlir_sys::MlirOperation { ptr: address as *mut std::ffi::c_void };
            // SAFETY: nobody else owns it: it was taken out of its block, and is in the list once.
            unsafe { mlir_sys::mlirOperationDestroy(op) };
        }
    }

    /// A name for the data of a constant that is new in its context: `name`, or else with a number
    /// behind it. MLIR would find the same one by trying all numbers from 1, each time.
    pub(crate) fn resource_name(&self, name: &str) -> String {
        let mut names = lock(&self.names);
        let given = names.entry(name.to_owned()).or_default();
        *given += 1;
        if *given == 1 { name.to_owned() } else { format!("{name}_{}", *given - 1) }
    }
}

/// A pipeline that runs.
pub struct Running<'a>(&'a Carried);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carried").field("names", &self.names).finish_non_exhaustive()
    }
}

/// Data that a context carries; none for one that is no session's.
pub fn carried(context: &Context) -> Option<&Carried> {
    // SAFETY: what is borrowed lives.
    unsafe { carried_raw(context.to_raw()) }
}

/// As [`carried`].
///
/// # Safety
/// The context lives as long as the result is used.
pub(crate) unsafe fn carried_raw<'c>(context: mlir_sys::MlirContext) -> Option<&'c Carried> {
    // SAFETY: the caller's contract, and that of `attach`.
    unsafe { ffi::phlContextUser(context).cast::<Carried>().as_ref() }
}

/// True if an operation may be asked what it does: interfaces trust those that they are asked of. It is verified, but for
/// contexts of compilers that see to it themselves.
pub(crate) fn may_ask(op: Op<'_>) -> bool {
    // SAFETY: the operation is live, and so is its context.
    unsafe {
        let carried = carried_raw(mlir_sys::mlirOperationGetContext(op.to_raw()));
        carried.is_some_and(|carried| carried.trusts) || ffi::phlIsValid(op.to_raw())
    }
}

/// The value that the session of a context was given, if it is of that type.
pub fn user<T: Any>(context: &Context) -> Option<&T> {
    carried(context)?.user()
}

/// True if the dialect of an operation infers types of any operands and attributes without harm. Others are
/// verified before.
pub fn infers_with_care(context: &Context, name: &str) -> bool {
    let Some((dialect, _)) = name.split_once('.') else { return false };
    carried(context).is_some_and(|carried| carried.careful.iter().any(|own| own == dialect))
}

/// Keeps an operation that is in no block any more until its context goes; for ever in a context
/// that is no session's.
pub(crate) fn keep_removed(op: Op<'_>) {
    if let Some(carried) = carried(super::context_of(op)) {
        lock(&carried.removed).push(op.to_raw().ptr as usize);
    }
}

/// The text that a panic was raised with.
pub fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

/// The access to the IR of code on this thread, while MLIR or a driver of patterns looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Access {
    /// Everything; what a thread begins with.
    Full = 0,
    /// Change it through its rewriter, which tells the driver.
    Rewriter,
    /// Read it.
    Read,
}

impl Access {
    /// The access of this thread.
    fn here() -> Self {
        match thread(|state| state.access) {
            at if at == Self::Full as u8 => Self::Full,
            at if at == Self::Rewriter as u8 => Self::Rewriter,
            _ => Self::Read,
        }
    }
}

/// Calls `run` with such access.
pub(crate) fn with_access<T>(access: Access, run: impl FnOnce() -> T) -> T {
    /// Sets the access back, also after a panic.
    struct Before(u8);
    impl Drop for Before {
        fn drop(&mut self) {
            thread(|state| state.access = self.0);
        }
    }
    let _before = Before(thread(|state| std::mem::replace(&mut state.access, access as u8)));
    run()
}

/// Fails where nothing may be changed: in verifiers, folds, analyses, and questions of a conversion.
pub(crate) fn check_change() -> crate::Result<()> {
    match Access::here() {
        Access::Read => Err(crate::Error::invalid(
            "IR cannot be changed here: verifiers, folds and analyses only read it",
        )),
        Access::Full | Access::Rewriter => Ok(()),
    }
}

/// Fails where a driver has to be told of changes, besides where nothing may be changed.
pub(crate) fn check_free() -> crate::Result<()> {
    match Access::here() {
        Access::Rewriter => Err(crate::Error::invalid(
            "inside of a rule or a pattern operations go by its rewriter, not by ir::edit",
        )),
        Access::Full | Access::Read => check_change(),
    }
}

/// Token that asks the work on a context to stop.
#[derive(Clone, Debug, Default)]
pub struct Cancel(std::sync::Arc<std::sync::atomic::AtomicBool>);

impl Cancel {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the stop, from any thread.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// True once it was said.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// True if what runs in a context is to stop.
pub fn is_cancelled(context: &Context) -> bool {
    carried(context)
        .is_some_and(|carried| lock(&carried.cancel).as_ref().is_some_and(Cancel::is_cancelled))
}

/// Calls `run` for a pass on `op`: until it returns, [`super::edit::remove`] leaves the operation and
/// those around it alone, which the pass manager is about to touch again.
pub(crate) fn run_on<T>(op: Op<'_>, run: impl FnOnce() -> T) -> T {
    /// Sets the address back, also after a panic.
    struct Before(usize);
    impl Drop for Before {
        fn drop(&mut self) {
            thread(|state| state.run_on = self.0);
        }
    }
    let here = op.to_raw().ptr as usize;
    let _before = Before(thread(|state| std::mem::replace(&mut state.run_on, here)));
    run()
}

/// Fails if a pass on this thread may not change `op`: it is neither what the pass runs on nor in it, and passes on other
/// threads may run there.
pub(crate) fn check_own(op: Op<'_>) -> crate::Result<()> {
    let running = thread(|state| state.run_on);
    if running == 0 {
        return Ok(());
    }
    let mut last = op;
    for around in std::iter::successors(Some(op), |op| op.parent_operation()) {
        if around.to_raw().ptr as usize == running {
            return Ok(());
        }
        last = around;
    }
    // SAFETY: the pass manager keeps what a pass runs on.
    let given =
        unsafe { Op::from_raw(mlir_sys::MlirOperation { ptr: running as *mut std::ffi::c_void }) };
    let outermost = std::iter::successors(Some(given), |op| op.parent_operation()).last();
    if outermost.is_none_or(|outermost| outermost.to_raw().ptr != last.to_raw().ptr) {
        return Ok(());
    }
    Err(crate::Error::invalid(format!(
        "'{}' is not in the '{}' that the pass runs on, and passes may run there at the same time: anchor the pass \
         further out",
        super::op_name(op),
        super::op_name(given)
    )))
}

/// True if a pass on this thread was given `op`, or something else in the same IR that `op` is not
/// inside of.
pub(crate) fn is_run_on(op: Op<'_>) -> bool {
    let running = thread(|state| state.run_on);
    if running == 0 {
        return false;
    }
    let around = |op: Op<'_>| -> Vec<usize> {
        std::iter::successors(Some(op), |op| op.parent_operation())
            .map(|op| op.to_raw().ptr as usize)
            .collect()
    };
    // SAFETY: the pass manager keeps what a pass runs on.
    let given =
        unsafe { Op::from_raw(mlir_sys::MlirOperation { ptr: running as *mut std::ffi::c_void }) };
    let ours = around(op);
    let is_strictly_inside = ours.iter().skip(1).any(|address| *address == running);
    !is_strictly_inside && ours.last() == around(given).last()
}

/// Emits an error about an operation from where nothing can be returned, once; the pipeline that runs fails by it.
pub(crate) fn complain(op: Op<'_>, text: &str) {
    complain_at(op.location(), text);
}

/// As [`complain`], at a place.
pub(crate) fn complain_at(location: melior::ir::Location<'_>, text: &str) {
    // SAFETY: the location is live, and so is its context.
    let carried = unsafe { carried_raw(mlir_sys::mlirLocationGetContext(location.to_raw())) };
    if let Some(carried) = carried
        && !lock(&carried.complained).insert(format!("{location}: {text}"))
    {
        return;
    }
    let text = melior::StringRef::new(text).to_raw();
    let error = ffi::PhlSeverity::PHL_SEVERITY_ERROR;
    // SAFETY: the location is live; the text is copied.
    unsafe { ffi::phlEmit(error, location.to_raw(), text, std::ptr::null(), 0) };
}
