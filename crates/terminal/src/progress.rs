//! A progress bar on the terminal, for work that takes longer than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How far the work is. On anything but a terminal nothing is shown.
pub struct ProgressLine {
    began: Instant,
    jobs: u64,
    /// What the jobs are called.
    noun: &'static str,
    bar: Option<ProgressBar>,
}

impl ProgressLine {
    /// Shorter work gets no bar.
    const SHORT: Duration = Duration::from_secs(1);

    /// Progress of work of unknown length; `noun` is what is counted.
    #[must_use]
    pub fn without_end(noun: &'static str) -> Self {
        Self::new(0, noun)
    }

    /// Progress of `jobs` jobs, which are called `noun`.
    #[must_use]
    pub fn new(jobs: u64, noun: &'static str) -> Self {
        Self { began: Instant::now(), jobs, noun, bar: None }
    }

    /// Shows how many are done.
    pub fn show(&mut self, done: u64) {
        if self.bar.is_none() && self.began.elapsed() > Self::SHORT {
            self.bar = Some(match self.jobs {
                0 => spinner(&format!("{{spinner}} {{pos}} {} so far, {{elapsed}}", self.noun)),
                1 => spinner("{spinner} running for {elapsed}"),
                jobs => bar(jobs, self.noun),
            });
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(jobs: u64, noun: &str) -> ProgressBar {
    let bar = ProgressBar::new(jobs);
    let template = format!("{{wide_bar}} {{pos}} of {{len}} {noun}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

fn spinner(template: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template(template) {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}
