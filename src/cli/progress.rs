//! Progress on long work, when standard error is a terminal.

use crate::Phase;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use tracing::level_filters::LevelFilter;

/// A line of progress; hidden unless the error output is a terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// Starts the line.
    pub fn new() -> Self {
        // Lines of a log and a line that is drawn again and again do not go together.
        let is_logged = LevelFilter::current() != LevelFilter::OFF;
        let is_seen = stderr().is_terminal() && !is_logged;
        let bar = if is_seen { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Says what is being done now.
    pub fn say(&self, text: impl Into<String>) {
        self.0.set_message(text.into());
    }

    /// Says which phase runs.
    pub fn phase(&self, phase: Phase) {
        self.say(format!("phase {phase}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
