//! Runs the program on an input and judges how it ended.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Most processor time of an input, in seconds. Good inputs take less than one.
const PROCESSOR_SECONDS: u64 = 20;
/// Most time on the clock, for what waits instead of computing.
const LIMIT: Duration = Duration::from_secs(300);
/// Most address space of an input, in KiB. The program itself maps about 0.4 GiB.
const MEMORY: u64 = 4 << 20;
/// Most bytes of a file that an input may have written, in units of 512 bytes.
const FILE_BLOCKS: u64 = 2 << 20;

/// A run of the program: files in a folder, and arguments that name them relatively to it.
pub struct Case {
    pub files: Vec<(String, Vec<u8>)>,
    pub arguments: Vec<String>,
    program: &'static str,
    /// Text that the language server has to answer, if the program is that.
    answer: Option<String>,
}

/// The file that the language server reads.
const CONVERSATION: &str = "conversation";

impl Case {
    /// A case whose arguments are written as one text, separated by blanks.
    pub fn new(files: Vec<(String, Vec<u8>)>, arguments: &str) -> Self {
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        Self { files, arguments, program: program(), answer: None }
    }

    /// A case for `phaseline-opt`, whose messages are MLIR's.
    pub fn of_opt(files: Vec<(String, Vec<u8>)>, arguments: &str) -> Self {
        Self { program: env!("CARGO_BIN_EXE_phaseline-opt"), ..Self::new(files, arguments) }
    }

    /// A case for the language server, which reads this and gives an answer that begins so.
    pub fn of_server(conversation: Vec<u8>, answer: &str) -> Self {
        let files = vec![(CONVERSATION.to_owned(), conversation)];
        let program = env!("CARGO_BIN_EXE_phaseline-lsp-server");
        Self { program, answer: Some(answer.to_owned()), ..Self::new(files, "--log=error") }
    }

    /// Adds an argument that may hold blanks.
    pub fn with(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// The command line, to be typed in the folder with the files.
    pub fn command(&self) -> String {
        let quoted = self.arguments.iter().map(|argument| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
            if !argument.is_empty() && argument.chars().all(plain) {
                argument.clone()
            } else {
                format!("'{}'", argument.replace('\'', r"'\''"))
            }
        });
        let input =
            if self.answer.is_some() { format!(" < {CONVERSATION}") } else { String::new() };
        format!("{} {}{input}", self.program, quoted.collect::<Vec<_>>().join(" "))
    }

    /// Writes the files into `folder`.
    pub fn write(&self, folder: &Path) {
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("creates a folder");
            fs::write(path, bytes).expect("writes a file");
        }
    }

    /// Runs it, twice if `again`. Gives whether the input was accepted, or what is wrong with the
    /// way it ended.
    pub fn judge(&self, again: bool) -> Result<bool, String> {
        let first = self.run()?;
        match &self.answer {
            Some(answer) => first.check_answer(answer)?,
            None => first.check(self.program == program())?,
        }
        if again {
            let second = self.run()?;
            // The server's messages have the time in them.
            let same = self.answer.is_some() || first.messages == second.messages;
            let same = same && (self.answer.is_none() || first.printed == second.printed);
            if first.code != second.code || !same {
                return Err(format!(
                    "differs when run again:\n{}\nand\n{}",
                    first.messages, second.messages
                ));
            }
            let all = first.made.keys().chain(second.made.keys());
            for name in all {
                if first.made.get(name) != second.made.get(name) {
                    return Err(format!("'{}' differs when made again", name.display()));
                }
            }
        }
        Ok(first.code == 0)
    }

    fn run(&self) -> Result<Outcome, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let (work, temporary) = (folder.path().join("work"), folder.path().join("tmp"));
        for path in [&work, &temporary] {
            fs::create_dir(path).expect("creates a folder");
        }
        self.write(&work);
        let before = tree(folder.path());
        let (out, err) = (folder.path().join("stdout"), folder.path().join("stderr"));
        let limits =
            format!("ulimit -c 0 -t {PROCESSOR_SECONDS} -v {MEMORY} -f {FILE_BLOCKS}; exec \"$@\"");
        let mut child = Command::new("bash")
            .args(["-c", &limits, "fuzz", self.program])
            .args(&self.arguments)
            .current_dir(&work)
            .env("TMPDIR", &temporary)
            .stdin(match self.answer {
                Some(_) => File::open(work.join(CONVERSATION)).expect("opens").into(),
                None => Stdio::null(),
            })
            .stdout(File::create(&out).expect("creates a file"))
            .stderr(File::create(&err).expect("creates a file"))
            .spawn()
            .expect("bash runs");
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("waits") {
                break status;
            }
            if start.elapsed() > LIMIT {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("had not ended after {LIMIT:?}"));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let messages = String::from_utf8_lossy(&fs::read(&err).expect("reads")).into_owned();
        // Above the folder it ran in, too: names may lead there.
        let mut made = tree(folder.path());
        let ours =
            |name: &Path| ["tmp", "stdout", "stderr"].iter().any(|own| name.starts_with(own));
        made.retain(|name, bytes| before.get(name) != Some(bytes) && !ours(name));
        let printed = fs::read(&out).expect("reads");
        if let Some(signal) = status.signal() {
            let reason = if [9, 24].contains(&signal) { " (processor time)" } else { "" };
            return Err(format!("ended by signal {signal}{reason}: {messages}"));
        }
        let left = tree(&temporary).into_keys().collect();
        Ok(Outcome { code: status.code().unwrap_or(-1), messages, printed, made, left })
    }
}

/// Outcome of a run.
struct Outcome {
    code: i32,
    messages: String,
    printed: Vec<u8>,
    /// Files that are new or changed.
    made: BTreeMap<PathBuf, Vec<u8>>,
    /// Temporary files that are still there.
    left: Vec<PathBuf>,
}

impl Outcome {
    /// True if the language server came to its end, and gave an answer to the last request.
    fn check_answer(&self, answer: &str) -> Result<(), String> {
        let printed = String::from_utf8_lossy(&self.printed);
        if self.code != 0 || !printed.contains(answer) {
            return Err(format!("exit code {} without an answer: {}", self.code, self.messages));
        }
        Ok(())
    }

    /// Checks that it ended well; `strict` for messages in the form of our own program.
    fn check(&self, strict: bool) -> Result<(), String> {
        let errors = self.messages.lines().filter(|line| line.starts_with("error: ")).count();
        let fault =
            if self.messages.contains("panicked at") || self.messages.contains("internal error") {
                "a fault of the program".to_owned()
            } else if ![0, 1].contains(&self.code) {
                format!("exit code {}", self.code)
            } else if !strict && self.code == 1 && self.messages.is_empty() {
                "no message".to_owned()
            } else if !strict {
                return Ok(());
            } else if self.code == 0 && errors != 0 {
                "exit code 0 with an error message".to_owned()
            } else if self.code == 1 && errors != 1 {
                format!("{errors} error messages")
            } else if self.code == 1 && !self.printed.is_empty() {
                "partial output on standard output".to_owned()
            } else if self.code == 1 && !self.made.is_empty() {
                format!("files were left behind: {:?}", self.made.keys())
            } else if !self.left.is_empty() {
                format!("temporary files were left behind: {:?}", self.left)
            } else if ![0, 1].contains(&self.code) {
                format!("exit code {}", self.code)
            } else {
                return Ok(());
            };
        Err(format!("{fault}: {}", self.messages))
    }
}

/// The program under test.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_phaseline")
}

/// The files below a folder; folders have no bytes.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).expect("reads a folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder).expect("below").to_path_buf();
            if entry.file_type().expect("a type").is_dir() {
                found.insert(name, vec![]);
                open.push(path);
            } else {
                found.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}
