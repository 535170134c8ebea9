//! Programs that are started and files that are temporary, so that both can end with this process.
//!
//! Nothing here handles signals: a program that does calls [`end`] (`phaseline` does), others lose
//! no more than they would anyway.

mod serve;
mod supervise;

pub use serve::{Reply, Server};
pub use supervise::{Ended, supervise};

use crate::{Error, Result};
use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    process::{Pid, Signal, kill_process_group, test_kill_process_group},
};
use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Programs to end and paths to remove.
struct Live {
    /// Programs get process groups of their own, by which all that they start can be ended.
    own_groups: bool,
    children: BTreeSet<i32>,
    paths: BTreeSet<PathBuf>,
}

static LIVE: Mutex<Live> =
    Mutex::new(Live { own_groups: false, children: BTreeSet::new(), paths: BTreeSet::new() });

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program from now on in a process group of its own. Only for programs that end the groups
/// when they are told to stop: keys that stop a program reach its own group only.
pub fn use_groups() {
    live().own_groups = true;
}

/// Runs a program without standard input and collects what it prints.
pub fn output(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let (child, id) = spawn(command)?;
    let output = child.wait_with_output();
    live().children.remove(&id);
    if let Ok(output) = &output {
        let ended = ending(output.status);
        tracing::debug!(target: "phaseline::process", ?command, ended, took = ?start.elapsed(), "ran");
    }
    output
}

/// Starts a program, which [`end`] ends if it still runs then.
pub fn start(command: &mut Command) -> io::Result<Running> {
    let (child, id) = spawn(command)?;
    tracing::debug!(target: "phaseline::process", ?command, id, "started");
    Ok(Running { child, id })
}

fn spawn(command: &mut Command) -> io::Result<(Child, i32)> {
    let mut live = live();
    if live.own_groups {
        command.process_group(0);
    }
    let child = command.spawn()?;
    let id = i32::try_from(child.id()).unwrap_or_default();
    live.children.insert(id);
    Ok((child, id))
}

/// A program that was started; see [`start`].
#[derive(Debug)]
pub struct Running {
    /// The program.
    pub child: Child,
    id: i32,
}

impl Drop for Running {
    fn drop(&mut self) {
        live().children.remove(&self.id);
    }
}

/// Ending of a program that did not succeed, and the first lines of its output.
pub fn account(output: &Output, lines: usize) -> String {
    let how = ending(output.status);
    match said(output, lines) {
        Some(said) => format!("{how}\n{said}"),
        None => format!("{how}, without a message"),
    }
}

/// The first lines of what a program said, if it said anything.
pub fn said(output: &Output, lines: usize) -> Option<String> {
    let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    let said = String::from_utf8_lossy(said);
    let said: Vec<_> = said.trim().lines().take(lines).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// Ending of a program, as text.
pub fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// Ends the programs that run and removes temporary paths, for a process that is about to end.
/// Threads that go on to start programs or to make temporary files wait there for ever.
pub fn end() {
    // Never given back.
    let live = std::mem::ManuallyDrop::new(live());
    if live.own_groups {
        end_groups(&live.children);
    }
    for path in &live.paths {
        // Another thread may be writing there.
        for _ in 0..20 {
            let result = match path.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
                Ok(_) => fs::remove_file(path),
                Err(_) => break,
            };
            if result.is_err() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Asks process groups to end, and kills those that have not ended after a second. Compilers remove
/// their own temporary files when they are asked.
fn end_groups(children: &BTreeSet<i32>) {
    let groups: Vec<Pid> = children.iter().filter_map(|id| Pid::from_raw(*id)).collect();
    for group in &groups {
        let _ = kill_process_group(*group, Signal::TERM);
    }
    let limit = Instant::now() + Duration::from_secs(1);
    while groups.iter().any(|group| test_kill_process_group(*group).is_ok()) {
        if Instant::now() > limit {
            for group in &groups {
                let _ = kill_process_group(*group, Signal::KILL);
            }
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Makes something temporary at a path, which [`end`] removes while the mark lives.
pub fn temporary<T>(
    make: impl FnOnce() -> io::Result<T>,
    path: impl FnOnce(&T) -> &Path,
) -> io::Result<(T, Mark)> {
    let mut live = live();
    let made = make().map_err(plain)?;
    let path = path(&made).to_path_buf();
    live.paths.insert(path.clone());
    Ok((made, Mark(path)))
}

/// The system's error without the name of the temporary file, which nobody knows.
fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason),
        None => error,
    }
}

/// Keeps a path in mind; see [`temporary`].
pub struct Mark(PathBuf);

impl Drop for Mark {
    fn drop(&mut self) {
        live().paths.remove(&self.0);
    }
}

/// The system's place for temporary files. An empty variable `TMPDIR` is as none.
fn temporary_folder() -> PathBuf {
    let named = std::env::temp_dir();
    if named.as_os_str().is_empty() { PathBuf::from("/tmp") } else { named }
}

/// A temporary folder, removed when dropped.
pub struct Folder {
    folder: tempfile::TempDir,
    _mark: Mark,
}

impl Folder {
    /// A folder in the system's place for them.
    pub fn new() -> Result<Self> {
        let place = temporary_folder();
        Self::beside(&place).map_err(|e| Error::io("cannot create a folder in", &place, e))
    }

    /// A folder in `parent`.
    pub fn beside(parent: &Path) -> io::Result<Self> {
        let parent = std::path::absolute(parent)?;
        let make = || tempfile::Builder::new().prefix(".phaseline-").tempdir_in(&parent);
        let (folder, _mark) = temporary(make, |folder| folder.path())?;
        Ok(Self { folder, _mark })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Moves it to `place`, in the same file system. A folder that is there already is removed.
    pub fn replace(self, place: &Path) -> io::Result<()> {
        let path = self.path();
        // Temporary folders are private to the user; what others are to use is not.
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        // Removal of a folder that is gone is no fault.
        put(path, place)
    }
}

/// Moves a folder to a place in the same file system. A folder or file that is there already
/// changes places with it.
pub fn put(path: &Path, place: &Path) -> io::Result<()> {
    // Another process may put something there meanwhile.
    if place.symlink_metadata().is_err() && fs::rename(path, place).is_ok() {
        return Ok(());
    }
    match place.symlink_metadata() {
        Ok(_) => exchange(path, place),
        Err(_) => fs::rename(path, place),
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let path = self.path();
        if fs::remove_dir_all(path).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
            allow_removal(path);
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Lets what is in a folder be removed: programs make folders that nobody may write to.
fn allow_removal(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            allow_removal(&entry.path());
        }
    }
}

/// Exchanges two folders: at once where the system can, else so that the old one comes back if the
/// new one cannot take its place.
fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    let mut aside = new.as_os_str().to_owned();
    aside.push("-old");
    let aside = PathBuf::from(aside);
    // The process does not end while this is held.
    let _live = live();
    fs::rename(old, &aside)?;
    if let Err(error) = fs::rename(new, old) {
        let _ = fs::rename(&aside, old);
        return Err(error);
    }
    fs::rename(&aside, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_take_the_place_of_others_and_leave_nothing() {
        let work = tempfile::tempdir().unwrap();
        let place = work.path().join("out");
        for text in ["one", "two"] {
            let folder = Folder::beside(work.path()).unwrap();
            fs::write(folder.path().join("file"), text).unwrap();
            folder.replace(&place).unwrap();
            assert_eq!(fs::read_to_string(place.join("file")).unwrap(), text);
            assert_eq!(fs::read_dir(work.path()).unwrap().count(), 1);
        }
        drop(Folder::beside(work.path()).unwrap());
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_end_of_a_program_is_told() {
        let run = |text: &str| account(&output(Command::new("sh").args(["-c", text])).unwrap(), 2);
        assert_eq!(run("exit 3"), "exit code 3, without a message");
        assert_eq!(run("echo a; echo b; echo c; exit 1"), "exit code 1\na\nb");
        assert_eq!(run("echo a; echo e >&2; exit 1"), "exit code 1\ne");
        assert_eq!(run("kill -9 $$"), "killed by signal 9, without a message");
    }
}
