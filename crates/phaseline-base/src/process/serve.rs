//! Programs of others that answer many questions: a line each, until their input ends.

use super::{live, spawn};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, set_parent_process_death_signal, waitid,
};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    thread,
    time::{Duration, Instant},
};

/// Time that a program has to end after its input has ended, or after it was told to.
const GRACE: Duration = Duration::from_secs(2);

/// Time between two looks at a program that has not answered.
const PAUSE: Duration = Duration::from_millis(10);

/// Time between two looks at what a program wrote.
const LOOK: Duration = Duration::from_millis(100);

/// Lines of a program that wait to be read: more than one are a fault of it.
const WAITING: usize = 4;

/// The outcome of a question.
#[derive(Debug)]
pub enum Reply {
    /// A line, without its end.
    Line(Vec<u8>),
    /// The program ended before it answered.
    Ended(ExitStatus),
    /// The program closed its output, did not end, and was stopped.
    Closed,
    /// The program took too long, and was stopped.
    Late,
    /// The program wrote too much, and was stopped.
    Large,
}

/// A program that runs and answers. Dropping it ends what is left of the program.
pub struct Server {
    child: Child,
    id: i32,
    group: Pid,
    questions: Option<Sender<Vec<u8>>>,
    lines: Receiver<Vec<u8>>,
    status: Option<ExitStatus>,
}

impl Server {
    /// Starts a program, whose answers have at most so many bytes. Its standard error should go to a file.
    ///
    /// # Errors
    /// The system does not start it.
    pub fn start(command: &mut Command, most: u64) -> io::Result<Self> {
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        // SAFETY: between fork and exec there is one system call, which may be made there.
        unsafe {
            // Keys that stop this program do not reach the group.
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
        }
        let (mut child, id) = spawn(command)?;
        tracing::debug!(target: "phaseline::process", ?command, id, "started");
        let group = Pid::from_child(&child);
        let (questions, asked) = channel();
        let (sender, lines) = sync_channel(WAITING);
        let threads = match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => thread::Builder::new()
                .spawn(move || write(input, &asked))
                .and_then(|_| thread::Builder::new().spawn(move || read(output, most, &sender))),
            _ => Err(io::Error::other("the program has no pipes")),
        };
        let server = Self { child, id, group, questions: Some(questions), lines, status: None };
        threads.map(|_| server)
    }

    /// Asks a question, which is one line, and waits for a line. A program that does not answer in time,
    /// or of which `is_large` says that it wrote too much, is stopped.
    pub fn ask(&mut self, line: Vec<u8>, time: Duration, is_large: &dyn Fn() -> bool) -> Reply {
        let start = Instant::now();
        // One that has ended says so below.
        let _ = self.questions.as_ref().map(|questions| questions.send(line));
        let mut look = start + LOOK;
        loop {
            let left = time.saturating_sub(start.elapsed());
            match self.lines.recv_timeout(PAUSE.min(left)) {
                Ok(line) => return Reply::Line(line),
                Err(RecvTimeoutError::Disconnected) => return self.silent(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.has_ended() {
                // What it wrote last is on its way; what it left behind may hold the other end.
                return match self.lines.recv_timeout(10 * PAUSE) {
                    Ok(line) => Reply::Line(line),
                    Err(_) => self.silent(),
                };
            }
            if start.elapsed() >= time {
                self.stop();
                return Reply::Late;
            }
            if Instant::now() >= look {
                let began = Instant::now();
                if is_large() {
                    self.stop();
                    return Reply::Large;
                }
                // Looking takes little of the time.
                look = Instant::now() + LOOK.max(10 * began.elapsed());
            }
        }
    }

    /// Ends the input, and waits a moment for the program to end; gives how it ended by itself, if it did.
    pub fn end(&mut self) -> Option<ExitStatus> {
        self.questions = None;
        let by_itself = self.wait(GRACE);
        self.stop();
        self.status.filter(|_| by_itself)
    }

    /// The end of a program that answers no more.
    fn silent(&mut self) -> Reply {
        let by_itself = self.wait(GRACE);
        self.stop();
        self.status.filter(|_| by_itself).map_or(Reply::Closed, Reply::Ended)
    }

    /// True if the program has ended. It is not reaped, so that the number of its group is nobody else's.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.status.is_some() || !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    fn wait(&self, time: Duration) -> bool {
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() >= time {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Ends the program, and what it has left running in its group.
    fn stop(&mut self) {
        if self.status.is_some() {
            return;
        }
        if !self.has_ended() {
            let _ = kill_process_group(self.group, Signal::TERM);
            self.wait(GRACE / 2);
        }
        let _ = kill_process_group(self.group, Signal::KILL);
        self.status = self.child.wait().ok();
        live().children.remove(&self.id);
        tracing::debug!(target: "phaseline::process", id = self.id, status = ?self.status, "ended");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.questions = None;
        if self.status.is_none() {
            let _ = kill_process_group(self.group, Signal::KILL);
        }
        self.stop();
    }
}

/// Passes questions on, until there are no more or nobody reads them.
fn write(mut input: ChildStdin, asked: &Receiver<Vec<u8>>) {
    // A program that has ended is no reason for this one to end.
    // SAFETY: the set is this function's own, and only this thread's mask changes.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
    }
    for question in asked {
        if input.write_all(&question).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Reads lines, until there are no more. One without end or of too many bytes is the last.
fn read(output: ChildStdout, most: u64, lines: &SyncSender<Vec<u8>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = vec![];
        let read = output.by_ref().take(most.saturating_add(1)).read_until(b'\n', &mut line);
        let is_whole = line.last() == Some(&b'\n');
        if is_whole {
            line.pop();
        }
        let has_line = is_whole || !line.is_empty();
        if read.is_err() || (has_line && lines.send(line).is_err()) || !is_whole {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn server(text: &str) -> Server {
        let mut command = Command::new("sh");
        Server::start(command.args(["-c", text]).stderr(Stdio::null()), 100).unwrap()
    }

    fn ask(server: &mut Server, line: &str, time: Duration) -> String {
        match server.ask(format!("{line}\n").into_bytes(), time, &|| false) {
            Reply::Line(line) => String::from_utf8(line).unwrap(),
            Reply::Ended(status) => super::super::ending(status),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn one_program_answers_many_questions() {
        let mut cat = server("exec cat");
        for number in 0..200 {
            assert_eq!(ask(&mut cat, &number.to_string(), LONG), number.to_string());
        }
        assert!(cat.end().is_some_and(|status| status.success()));
        // Questions larger than a pipe do not wait for one who does not read them.
        let large = "x".repeat(1 << 20);
        assert_eq!(ask(&mut server("echo first; cat > /dev/null"), &large, LONG), "first");
    }

    #[test]
    fn a_program_that_does_not_answer_is_told_of() {
        assert_eq!(ask(&mut server("exit 3"), "a", LONG), "exit code 3");
        assert_eq!(ask(&mut server("kill -9 $$"), "a", LONG), "killed by signal 9");
        assert_eq!(ask(&mut server("sleep 60 & exit 0"), "a", LONG), "exit code 0");
        assert_eq!(ask(&mut server("printf last; exit 1"), "a", LONG), "last");
        let start = Instant::now();
        assert_eq!(ask(&mut server("exec 1>&-; sleep 60"), "a", LONG), "Closed");
        let deaf = "trap '' TERM; while :; do sleep 60; done";
        assert_eq!(ask(&mut server(deaf), "a", 10 * PAUSE), "Late");
        let mut large = server("sleep 60");
        assert!(matches!(large.ask(vec![], LONG, &|| true), Reply::Large));
        // A line without an end is cut.
        assert_eq!(ask(&mut server("yes | tr -d '\\n'"), "a", LONG).len(), 101);
        assert!(server("trap '' TERM; sleep 60").end().is_none());
        assert!(start.elapsed() < LONG / 2);
    }
}
