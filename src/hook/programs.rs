//! Protocol 2 of programs that are hooks: one process answers all questions of a hook.
//!
//! A question is a line of JSON on the program's standard input: what version 1 asks, with the region as JSON and
//! constants as files ([`super::region`]). Its answer is a line of JSON on standard output with the `id` of the
//! question, and files in the `folder` that the question names. When there are no more questions, its input ends.
//! `docs/reference/hooks.md` is the reference, `docs/reference/hooks-2.schema.json` describes both lines.

use super::{
    answer::{Answer, Line},
    command::{MODULE, command, failed, large, late, places, size},
    region::{self, Constants},
};
use crate::{
    Error, Result,
    expr::OptionValue,
    ir::print::{Weights, print_op},
    phase::HookPoint,
    process::{self, Folder, Reply, Server},
    targets::hooks::{Command, Limits, Request, Served},
};
use serde_json::{Map, Value, json};
use std::{cell::RefCell, fs, path::PathBuf, time::Duration};

/// The key of a question about a region that has no place yet.
pub const DRY_RUN: &str = "dry-run";

/// Adds what a question is about.
type About<'a> = &'a mut dyn FnMut(&mut Constants, &mut Map<String, Value>) -> Result<()>;

/// The programs that run for a hook.
#[derive(Default)]
pub struct Programs(RefCell<Vec<Running>>);

/// A program that answers questions.
struct Running {
    words: Vec<String>,
    answers: Answers,
    folder: Folder,
    work: PathBuf,
    constants: Constants,
    /// The number of the last question.
    last: u64,
}

/// The answering side.
enum Answers {
    Program(Server),
    /// Code of this process.
    Served(Served),
}

impl Programs {
    /// Asks a program, which is started if it does not run yet.
    pub fn ask(
        &self,
        asked: &Command,
        point: HookPoint,
        request: &Request<'_, '_>,
        about: About<'_>,
    ) -> Result<Answer> {
        let words = request.target.hook_words(asked)?;
        let mut all = self.0.borrow_mut();
        let place = match all.iter().position(|running| running.words == words) {
            Some(place) => place,
            None => {
                all.push(Running::start(words, request, asked)?);
                all.len() - 1
            }
        };
        let answer = all[place].ask(asked, point, request, about);
        if answer.is_err() {
            // What it says from now on is an answer to nothing.
            all.remove(place);
        }
        answer
    }

    /// Ends all of them.
    ///
    /// # Errors
    /// One ends with an exit code that is not 0.
    pub fn end(&self) -> Result<()> {
        for mut running in self.0.borrow_mut().drain(..) {
            let Answers::Program(server) = &mut running.answers else { continue };
            let status = server.end();
            if let Some(status) = status.filter(|status| !status.success()) {
                let how = format!("{}, after its last answer", process::ending(status));
                return Err(running.fault(&how));
            }
        }
        Ok(())
    }
}

impl Running {
    fn start(words: Vec<String>, request: &Request<'_, '_>, asked: &Command) -> Result<Self> {
        let folder = Folder::new()?;
        let [work, library] = places(&folder)?;
        let constants = Constants::new(work.join("constants"))?;
        if let Some(served) = &asked.served {
            let answers = Answers::Served(served.clone());
            return Ok(Self { words, answers, folder, work, constants, last: 0 });
        }
        let mut command = command(&words, (folder.path(), &work, &library))?;
        let most = request.target.hook_limits(asked, 0)?.bytes;
        let server = Server::start(&mut command, most).map_err(|error| Error::Tool {
            program: words[0].clone(),
            detail: format!("cannot be started: {error}; the manifest names it in [hooks]"),
        })?;
        let answers = Answers::Program(server);
        Ok(Self { words, answers, folder, work, constants, last: 0 })
    }

    fn fault(&self, how: &str) -> Error {
        failed(&self.words[0], how, self.folder.path())
    }

    fn ask(
        &mut self,
        asked: &Command,
        point: HookPoint,
        request: &Request<'_, '_>,
        about: About<'_>,
    ) -> Result<Answer> {
        self.last += 1;
        let id = self.last;
        let folder = self.work.join(id.to_string());
        fs::create_dir(&folder).map_err(|e| Error::io("cannot make", &folder, e))?;
        let mut question = general(point, request)?;
        question.insert("id".to_owned(), json!(id));
        question.insert("folder".to_owned(), json!(folder.display().to_string()));
        if asked.module {
            let path = folder.join(MODULE);
            let text = print_op(request.module, Weights::Print)?;
            fs::write(&path, text).map_err(|e| Error::io("cannot write", &path, e))?;
            question.insert("module".to_owned(), json!(path.display().to_string()));
        }
        about(&mut self.constants, &mut question)?;
        let is_dry = question.contains_key(DRY_RUN);
        let mut line = Value::Object(question).to_string().into_bytes();
        line.push(b'\n');
        let path = folder.join("request.json");
        fs::write(&path, &line).map_err(|e| Error::io("cannot write", &path, e))?;
        let place = self.folder.path().to_owned();
        let given = size(&place);
        let limits = request.target.hook_limits(asked, given)?;
        let is_large = || size(&place).saturating_sub(given) > limits.bytes;
        let time = Duration::from_secs(limits.seconds);
        let reply = match &mut self.answers {
            Answers::Program(server) => server.ask(line, time, &is_large),
            Answers::Served(served) => {
                let question = String::from_utf8_lossy(&line);
                let answer = (served.0)(&question);
                Reply::Line(answer.map_err(|how| self.fault(&how))?.into_bytes())
            }
        };
        let reply = match reply {
            Reply::Line(line) if line.len() as u64 > limits.bytes => Reply::Large,
            Reply::Line(_) if is_large() => Reply::Large,
            reply => reply,
        };
        let line = self.understood(id, reply, (limits, &request.target.kind.manifest))?;
        if let Some(reason) = &line.error {
            return Err(self.fault(reason));
        }
        Answer::of_line(line, folder, is_dry)
    }

    /// The answer to a question; else what is wrong with it.
    fn understood(
        &self,
        id: u64,
        reply: Reply,
        (limits, manifest): (Limits, &str),
    ) -> Result<Line> {
        let line = match reply {
            Reply::Line(line) => line,
            Reply::Ended(status) => {
                return Err(self.fault(&format!(
                    "{}, before it had answered request {id}; a program of protocol 2 answers one line for each \
                     request, until its standard input ends",
                    process::ending(status)
                )));
            }
            Reply::Closed => {
                return Err(self.fault(&format!(
                    "stopped, as it closed its standard output before it had answered request {id}"
                )));
            }
            Reply::Late => {
                return Err(self.fault(&late(&format!("answered request {id}"), limits, manifest)));
            }
            Reply::Large => return Err(self.fault(&large(limits, manifest))),
        };
        let wrong = |what: &str| {
            const SHOWN: usize = 200;
            let text = String::from_utf8_lossy(&line);
            let shown: String = text.chars().take(SHOWN).collect();
            let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
            self.fault(&format!(
                "{what}: {shown}{more}\nonly answers, a line of JSON each, go to standard output; messages go to \
                 standard error"
            ))
        };
        let mut value: Value = serde_json::from_slice(&line).map_err(|error| {
            wrong(&format!("answered request {id} with what is no JSON ({error})"))
        })?;
        let other =
            value.as_object_mut().and_then(|answer| answer.remove("id")).unwrap_or_default();
        if other != json!(id) {
            return Err(match other.is_null() {
                true => wrong(&format!("answered request {id} without its \"id\"")),
                false => wrong(&format!("answered request {other} when it was asked request {id}")),
            });
        }
        serde_json::from_value(value).map_err(|error| {
            wrong(&format!("answered request {id} with what is no answer ({error})"))
        })
    }
}

/// The fields of each question: the hook, its target, and the memory that it has.
fn general(point: HookPoint, request: &Request<'_, '_>) -> Result<Map<String, Value>> {
    let target = request.target;
    let options: Map<String, Value> =
        target.options.iter().map(|(name, value)| (name.clone(), option(value))).collect();
    let mut about = Map::new();
    about.insert("protocol".to_owned(), json!(2));
    about.insert("hook".to_owned(), json!(point.name()));
    about.insert("target".to_owned(), json!(target.id));
    about.insert("kind".to_owned(), json!(target.kind.name));
    about.insert("options".to_owned(), options.into());
    about.insert("pools".to_owned(), json!(region::own_pools(request)?));
    if let Some(memory) = region::device_memory(request)? {
        about.insert("memory".to_owned(), memory);
    }
    let board = request.memory()?;
    if !board.is_empty() {
        about.insert("board".to_owned(), json!(board));
    }
    Ok(about)
}

fn option(value: &OptionValue) -> Value {
    match value {
        OptionValue::Int(value) => json!(value),
        OptionValue::Float(value) => json!(value),
        OptionValue::Bool(value) => json!(value),
        OptionValue::Text(value) => json!(value),
    }
}
