//! State that a process has once. A plugin has a copy of this crate, and with it copies of its statics; C++ is the
//! program's alone, and keeps what has to be one.

use crate::ffi;

/// Looks at the state of this thread, or changes it.
pub(crate) fn thread<T>(look: impl FnOnce(&mut ffi::PhlThread) -> T) -> T {
    // SAFETY: the state lives as long as the thread. No `look` of this crate comes here again.
    look(unsafe { &mut *ffi::phlThread() })
}

/// The value of a process at a place, made by the first who asks.
///
/// # Safety
/// All who ask for the place have the same type.
pub(crate) unsafe fn value<T: Sync + 'static>(
    place: ffi::PhlShared::Type,
    make: impl FnOnce() -> T,
) -> &'static T {
    // SAFETY: what is at the place lives for ever, and is of the type.
    let known = unsafe { ffi::phlShare(place, std::ptr::null()).cast::<T>().as_ref() };
    known.unwrap_or_else(|| {
        let made = Box::into_raw(Box::new(make()));
        // SAFETY: as above; a value that came too late is dropped, and nobody has seen it.
        unsafe {
            let known = ffi::phlShare(place, made.cast_const().cast()).cast::<T>();
            if !std::ptr::eq(known, made) {
                drop(Box::from_raw(made));
            }
            &*known
        }
    })
}

/// A number for this copy of the crate. Values of types that copies have by the same name are not each other's.
pub(crate) fn copy() -> usize {
    static HERE: u8 = 0;
    &raw const HERE as usize
}
