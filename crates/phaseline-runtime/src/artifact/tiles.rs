//! Leave to use AMX's registers, which a process has to ask of Linux.

use std::sync::OnceLock;

/// The part of a thread's state that registers of AMX are.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const TILE_DATA: libc::c_ulong = 18;
/// Asks for a part of the state, for all threads of the process.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const ARCH_REQ_XCOMP_PERM: libc::c_ulong = 0x1023;

/// The CPU feature that goes with it.
pub const FEATURE: &str = "amx-tile";

/// True if this process may use AMX's registers. Asks for it the first time.
pub fn permitted() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(ask)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn ask() -> bool {
    // SAFETY: the call takes two numbers and touches no memory of this process.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0 }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn ask() -> bool {
    false
}
