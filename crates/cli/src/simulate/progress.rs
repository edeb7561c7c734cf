//! A bar on the terminal, for whoever waits longer than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How far the runs are. On anything but a terminal nothing is shown.
pub(super) struct Progress {
    began: Instant,
    runs: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// How long to wait between two looks.
    pub(super) const PATIENCE: Duration = Duration::from_millis(100);

    /// Nobody wants to see a bar for less.
    const SHORT: Duration = Duration::from_secs(1);

    pub(super) fn new(runs: u64) -> Self {
        Self { began: Instant::now(), runs, bar: None }
    }

    pub(super) fn show(&mut self, done: u64) {
        if self.bar.is_none() && self.began.elapsed() > Self::SHORT {
            self.bar = Some(if self.runs > 1 { bar(self.runs) } else { spinner() });
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(runs);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} running for {elapsed}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Progress::PATIENCE);
    spinner
}
