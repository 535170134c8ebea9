//! Programs of others, which may run or write without an end, and leave programs behind.

use super::{live, spawn};
use rustix::{
    io::Errno,
    process::{
        Pid, Signal, WaitId, WaitIdOptions, kill_process_group, set_parent_process_death_signal,
        waitid,
    },
};
use std::{
    io,
    os::unix::process::CommandExt,
    process::{Command, ExitStatus},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// Time that a program has to end after it was told to.
const GRACE: Duration = Duration::from_secs(1);

/// Time between two looks at what a program wrote.
const PAUSE: Duration = Duration::from_millis(100);

/// Ending of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program ended by itself.
    Itself(ExitStatus),
    /// The program took too long, and was stopped.
    Late,
    /// The program wrote too much, and was stopped.
    Large,
}

/// Runs a program until it ends, its time is over, or `is_large` says that it wrote too much.
/// Processes that it leaves running in its process group are ended with it, so that none of them
/// goes on writing. Its output should go to files: programs that it leaves behind could hold the
/// other end of a pipe.
pub fn supervise(
    command: &mut Command,
    time: Duration,
    is_large: &dyn Fn() -> bool,
) -> io::Result<Ended> {
    command.process_group(0);
    // SAFETY: between fork and exec there is one system call, which may be made there.
    unsafe {
        // Keys that stop this program do not reach the group.
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
    let start = Instant::now();
    let (mut child, id) = spawn(command)?;
    let watched = watch(Pid::from_child(&child), time, is_large);
    let status = child.wait();
    live().children.remove(&id);
    let ended = match (watched?, status?) {
        (Some(stopped), _) => stopped,
        // What it wrote last has not been looked at yet.
        (None, _) if is_large() => Ended::Large,
        (None, status) => Ended::Itself(status),
    };
    let how = match ended {
        Ended::Itself(status) => super::ending(status),
        Ended::Late => "stopped: too late".to_owned(),
        Ended::Large => "stopped: too large".to_owned(),
    };
    tracing::debug!(target: "phaseline::process", ?command, ended = how, took = ?start.elapsed(), "ran");
    Ok(ended)
}

/// Returns when the program has ended and all else in its group was killed, and what it was stopped for. It still
/// is to be waited for.
fn watch(program: Pid, time: Duration, is_large: &dyn Fn() -> bool) -> io::Result<Option<Ended>> {
    let (sender, ended) = channel();
    // Not reaped, so that the number of the group is nobody else's until the group has been killed.
    let wait = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(program), options), Err(Errno::INTR)) {}
        drop(sender);
    };
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, wait);
        let stopped = waiting.map(|_| until(&ended, time, is_large));
        if !matches!(stopped, Ok(None)) {
            let _ = kill_process_group(program, Signal::TERM);
            let _ = ended.recv_timeout(GRACE);
        }
        let _ = kill_process_group(program, Signal::KILL);
        stopped
    })
}

/// Waits until the program ends, or there is a reason to stop it.
fn until(ended: &Receiver<()>, time: Duration, is_large: &dyn Fn() -> bool) -> Option<Ended> {
    let start = Instant::now();
    let mut pause = PAUSE;
    loop {
        let left = time.saturating_sub(start.elapsed());
        if ended.recv_timeout(pause.min(left)) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
        if start.elapsed() >= time {
            return Some(Ended::Late);
        }
        let look = Instant::now();
        if is_large() {
            return Some(Ended::Large);
        }
        // Looking takes little of the time.
        pause = PAUSE.max(10 * look.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, fs::File, process::Stdio};

    /// Runs a shell's command for at most a time; gives how it ended, how long that took and what it said.
    fn run(text: &str, time: Duration, is_large: &dyn Fn() -> bool) -> (Ended, Duration, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("said");
        let mut command = Command::new("sh");
        command.args(["-c", text]).stdin(Stdio::null()).stdout(File::create(&path).unwrap());
        let start = Instant::now();
        let ended = supervise(&mut command, time, is_large).unwrap();
        (ended, start.elapsed(), std::fs::read_to_string(path).unwrap())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn programs_end_by_themselves_or_are_stopped() {
        let never = || false;
        let code = |ended| match ended {
            Ended::Itself(status) => super::super::ending(status),
            other => format!("{other:?}"),
        };
        let outcome = |text: &str, time| code(run(text, time, &never).0);
        assert_eq!(outcome("exit 0", LONG), "exit code 0");
        assert_eq!(outcome("exit 3", LONG), "exit code 3");
        assert_eq!(outcome("kill -11 $$", LONG), "killed by signal 11");
        let short = Duration::from_millis(200);
        let (ended, took, _) = run("sleep 60", short, &never);
        assert_eq!(ended, Ended::Late);
        assert!(took < LONG / 4, "{took:?}");
        // One that does not listen, nor does what it started.
        let deaf = "trap '' TERM; (trap '' TERM; sleep 60) & while :; do sleep 60; done";
        let (ended, took, _) = run(deaf, short, &never);
        assert_eq!(ended, Ended::Late);
        assert!(took < LONG / 4, "{took:?}");
        let looks = Cell::new(0);
        let third = || looks.replace(looks.get() + 1) >= 2;
        assert_eq!(run("sleep 60", LONG, &third).0, Ended::Large);
        assert_eq!(run("exit 0", LONG, &|| true).0, Ended::Large);
    }

    #[test]
    fn programs_that_are_left_behind_hold_nothing_and_end() {
        let (ended, took, said) = run("sleep 50 & echo $!", LONG, &|| false);
        assert!(matches!(ended, Ended::Itself(status) if status.success()), "{ended:?}");
        assert!(took < LONG / 4, "{took:?}");
        // What has ended and was not waited for has no arguments.
        let arguments = format!("/proc/{}/cmdline", said.trim());
        let runs = || std::fs::read(&arguments).is_ok_and(|text| !text.is_empty());
        let start = Instant::now();
        while runs() {
            assert!(start.elapsed() < LONG / 4, "it still runs");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
