//! Progress on long work, when standard error is a terminal.

use crate::Phase;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

/// A line that says what is being done; invisible when nobody watches.
pub struct Progress(ProgressBar);

impl Progress {
    /// Starts the line.
    pub fn new() -> Self {
        let bar =
            if stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
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
