//! Cleanup when the program is told to stop.

use crate::process;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{ptr, thread};

/// Lets the signals that stop a program also end the programs that it runs and remove its temporary
/// files. It still ends by the signal, so that a shell sees what happened.
pub fn install() {
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
    // Without handlers signals do what they usually do.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    process::use_groups();
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            process::end();
            let _ = emulate_default_handler(signal);
        }
    };
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

/// True if whoever started the program wants a signal to pass, as nohup does.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: an empty action is a valid value, which the call fills in; none is set.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}
