//! The thread pool of `runtime-c`, which kernels share their tasks out to.

use crate::{Error, Result};
use std::ffi::c_void;

unsafe extern "C" {
    fn phl_pool_create(threads: i32, out_pool: *mut *mut c_void) -> i32;
    fn phl_pool_destroy(pool: *mut c_void);
}

/// Threads that wait for work until it is dropped.
#[derive(Debug)]
pub struct Pool(*mut c_void);

// SAFETY: any thread may run loops on a pool, and the last owner ends it.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// Starts a pool of `threads` threads, that of the caller among them.
    pub fn new(threads: u32) -> Result<Self> {
        let mut pool = std::ptr::null_mut();
        let count = i32::try_from(threads).unwrap_or(i32::MAX);
        // SAFETY: the call writes the address of a new pool, or fails.
        let status = unsafe { phl_pool_create(count, &mut pool) };
        if status != 0 {
            return Err(Error::invalid(format!(
                "{threads} threads cannot be started (status {status}); ask for fewer"
            )));
        }
        Ok(Self(pool))
    }

    /// The address that compiled models are given.
    pub(super) fn address(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the pool is live, and who runs loops on it borrows it.
        unsafe { phl_pool_destroy(self.0) };
    }
}
