//! What a context carries besides what is MLIR's own.

use crate::ffi;
use melior::Context;
use std::{
    any::Any,
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

/// What passes find by their context.
pub struct Carried {
    /// How often each name of a constant was given out.
    names: Mutex<HashMap<String, usize>>,
    /// What belongs to the user of the context.
    user: Box<dyn Any + Send + Sync>,
}

impl Carried {
    /// With a value of the context's user.
    pub fn new(user: impl Any + Send + Sync) -> Self {
        Self { names: Mutex::default(), user: Box::new(user) }
    }

    /// Lets all that has the context find this.
    ///
    /// # Safety
    /// It stays at its address as long as the context lives, and changes only while nothing of the
    /// context is in use.
    pub unsafe fn attach(&self, context: &Context) {
        // SAFETY: the caller's contract.
        unsafe { ffi::phlContextSetTargets(context.to_raw(), std::ptr::from_ref(self).cast()) };
    }

    /// The user's value, if it is of that type.
    pub fn user<T: Any>(&self) -> Option<&T> {
        self.user.downcast_ref()
    }

    /// The user's value, to be changed.
    pub fn user_mut<T: Any>(&mut self) -> Option<&mut T> {
        self.user.downcast_mut()
    }

    /// Gives names of constants out from the start again, for a new context.
    pub fn forget_names(&self) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A name for the data of a constant that is new in its context: `name`, or else with a number
    /// behind it. MLIR would find the same one by trying all numbers from 1, each time.
    fn resource_name(&self, name: &str) -> String {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let given = names.entry(name.to_owned()).or_default();
        *given += 1;
        if *given == 1 { name.to_owned() } else { format!("{name}_{}", *given - 1) }
    }
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carried").field("names", &self.names).finish_non_exhaustive()
    }
}

/// What a context carries; none for one that is no session's.
pub fn carried(context: &Context) -> Option<&Carried> {
    // SAFETY: by the contract of `attach` it lives as long as the context.
    unsafe { ffi::phlContextTargets(context.to_raw()).cast::<Carried>().as_ref() }
}

/// A name for the data of a constant, as [`Carried::resource_name`] gives it.
///
/// # Safety
/// The context lives.
pub(super) unsafe fn resource_name(context: mlir_sys::MlirContext, name: &str) -> String {
    // SAFETY: the caller's contract, and that of `attach`.
    let carried = unsafe { ffi::phlContextTargets(context).cast::<Carried>().as_ref() };
    carried.map_or_else(|| name.to_owned(), |carried| carried.resource_name(name))
}
