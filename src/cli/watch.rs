//! `--timing`, `--print-ir-before` and `--print-ir-after`.

use crate::{
    Error, Phase, Pipeline, Result,
    error::suggestion,
    ir::{
        self,
        print::{Weights, print_apart},
    },
    pass::PassEvent,
};
use clap::Args;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write,
    sync::{Mutex, PoisonError},
    thread::ThreadId,
    time::{Duration, Instant},
};

/// Options that show a compile while it runs.
#[derive(Args, Clone, Debug, Default)]
pub struct WatchArgs {
    /// Print how long phases and passes took, to standard error
    #[arg(long)]
    pub timing: bool,
    /// Print the IR before these passes (names, or `all`) to standard error, without large weights
    #[arg(long, value_name = "PASS,...", value_delimiter = ',')]
    pub print_ir_before: Vec<String>,
    /// Print the IR after these passes (names, or `all`) to standard error, without large weights
    #[arg(long, value_name = "PASS,...", value_delimiter = ',')]
    pub print_ir_after: Vec<String>,
}

/// A pass that runs on a thread: since when, and the time of the passes that it runs itself.
struct Running {
    since: Instant,
    inner: Duration,
}

#[derive(Default)]
struct State {
    /// Steps in order, with when they began.
    steps: Vec<(String, Instant)>,
    running: HashMap<ThreadId, Vec<Running>>,
    /// Runs and own time of each pass.
    passes: BTreeMap<String, (usize, Duration)>,
}

/// Watches a compile.
pub struct Watcher<'a> {
    args: &'a WatchArgs,
    state: Mutex<State>,
}

impl<'a> Watcher<'a> {
    /// A watcher that shows what the arguments ask for.
    pub fn new(args: &'a WatchArgs) -> Self {
        Self { args, state: Mutex::default() }
    }

    /// True if passes need to be watched.
    pub fn is_needed(&self) -> bool {
        let args = self.args;
        args.timing || !args.print_ir_before.is_empty() || !args.print_ir_after.is_empty()
    }

    /// Fails if a name stands for no pass of the pipeline.
    pub fn check(&self, pipeline: &Pipeline) -> Result<()> {
        let text = pipeline.to_string();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let known: BTreeSet<&str> = text
            .lines()
            .filter(|line| !line.starts_with("//"))
            .flat_map(|line| line.split(|c: char| !is_word(c)))
            .filter(|word| word.contains('-') || ["canonicalize", "cse"].contains(word))
            .collect();
        let lists = [&self.args.print_ir_before, &self.args.print_ir_after];
        for name in lists.into_iter().flatten().filter(|name| *name != "all") {
            if !known.contains(name.as_str()) {
                let hint = suggestion(name, known.iter().copied());
                return Err(Error::invalid(format!(
                    "no pass '{name}' runs in this compile{hint}; --print-pipeline shows what runs"
                )));
            }
        }
        Ok(())
    }

    /// Something that takes time begins, and what was before ends.
    pub fn step(&self, name: impl Into<String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.steps.push((name.into(), Instant::now()));
    }

    /// A phase begins.
    pub fn phase(&self, phase: Phase) {
        self.step(format!("phase {phase}"));
    }

    /// Something happened to a pass.
    pub fn event(&self, event: PassEvent, pass: &str, op: ir::Op<'_>) {
        let wanted = |names: &[String]| names.iter().any(|name| name == pass || name == "all");
        match event {
            PassEvent::Before => {
                if wanted(&self.args.print_ir_before) {
                    show("before", pass, op);
                }
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                let running = state.running.entry(std::thread::current().id()).or_default();
                running.push(Running { since: Instant::now(), inner: Duration::ZERO });
            }
            PassEvent::After | PassEvent::Failed => {
                self.end(pass);
                if event == PassEvent::After && wanted(&self.args.print_ir_after) {
                    show("after", pass, op);
                }
            }
        }
    }

    fn end(&self, pass: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let running = state.running.entry(std::thread::current().id()).or_default();
        let Some(ended) = running.pop() else { return };
        let all = ended.since.elapsed();
        if let Some(outer) = running.last_mut() {
            outer.inner += all;
        }
        let entry = state.passes.entry(pass.to_owned()).or_default();
        entry.0 += 1;
        entry.1 += all.saturating_sub(ended.inner);
    }

    /// The times, if they are asked for.
    pub fn report(&self) -> Option<String> {
        if !self.args.timing {
            return None;
        }
        let now = Instant::now();
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = state.steps.iter().skip(1).map(|(_, since)| *since).chain([now]);
        let steps = state.steps.iter().zip(ends);
        let total = state.steps.first().map_or(Duration::ZERO, |(_, since)| now - *since);
        let mut out = format!("{:>9} {:>6}  step\n", "seconds", "%");
        let mut row = |name: &str, time: Duration| {
            let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(1e-9);
            // Writing to a string does not fail.
            let _ = writeln!(out, "{:9.4} {share:6.1}  {name}", time.as_secs_f64());
        };
        steps.for_each(|((name, since), end)| row(name, end - *since));
        row("total", total);
        let _ =
            writeln!(out, "\n{:>9} {:>6}  pass (own time, threads added up)", "seconds", "runs");
        let mut passes: Vec<_> = state.passes.iter().collect();
        passes.sort_by(|a, b| b.1.1.cmp(&a.1.1).then(a.0.cmp(b.0)));
        for (name, (runs, time)) in passes {
            let _ = writeln!(out, "{:9.4} {runs:6}  {name}", time.as_secs_f64());
        }
        Some(out)
    }
}

fn show(when: &str, pass: &str, op: ir::Op<'_>) {
    let name = ir::func::symbol(op);
    let of = if name.is_empty() { String::new() } else { format!(" on @{name}") };
    // Passes on functions run on several at a time.
    match print_apart(op, Weights::Elide) {
        Ok(text) => super::print_error(&format!("// IR {when} {pass}{of}\n{text}")),
        Err(error) => super::print_error(&format!("// IR {when} {pass}{of}: {error}\n")),
    }
}
