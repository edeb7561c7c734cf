//! One run of one algorithm, as a person would type it.

use doorway_core::{About, Channels, Choice, Options, Refusal, Start};
use doorway_simulator::{Heading, Outcome, Played, Report, Script, ScriptError, Settings, elected, shell};
use doorway_trace::{Event, Header, Recording};

use crate::settings::{self, Definition, RunSpec, SettingKind};
use crate::{Catalog, Subject};

/// An algorithm, what is chosen for it, and all that decides a run.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its name in the catalog.
    pub algorithm: String,
    /// What is chosen for it.
    pub options: Options,
    /// Everything else.
    pub settings: Settings,
}

/// What should be said of an algorithm on channels that are weaker than it needs.
#[must_use]
pub fn warning(about: &About, given: Channels) -> Option<String> {
    let words = |order: Channels| match order {
        Channels::Any => "channels of any order".to_owned(),
        Channels::Fifo | Channels::Causal => format!("{} channels", order.name()),
    };
    let About { name, needs, .. } = *about;
    (given < needs)
        .then(|| format!("{name} needs {} and runs on {}: it may fail", words(needs), words(given)))
}

impl Trial {
    /// A trial of an algorithm with nothing chosen for it and the defaults of the simulator.
    #[must_use]
    pub fn new(algorithm: &str) -> Self {
        Self { algorithm: algorithm.to_owned(), options: Options::none(), settings: Settings::default() }
    }

    /// The trial of a script, as far as its heading says, with all invariants tested and all events recorded.
    #[must_use]
    pub fn of_script(heading: &Heading, options: Options) -> Self {
        let usual = Settings::default();
        let settings = Settings {
            nodes: heading.nodes.unwrap_or(usual.nodes),
            channels: heading.channels.unwrap_or(usual.channels),
            start: heading.start_inside.map_or(Start::Empty, Start::Inside),
            invariants: true,
            trace: true,
            ..usual
        };
        Self { algorithm: heading.algorithm.clone().unwrap_or_default(), options, settings }
    }

    /// The same with one choice more.
    #[must_use]
    pub fn with(mut self, name: &str, word: &str) -> Self {
        self.options = self.options.with(name, word);
        self
    }

    /// The same under other settings.
    #[must_use]
    pub fn under(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// The same with another seed.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Runs it.
    ///
    /// # Errors
    /// If there is no such algorithm, or it cannot run so.
    pub fn run(&self, catalog: &Catalog) -> Result<Outcome, Refusal> {
        self.subject(catalog)?.simulate(&self.settings)
    }

    /// Runs a script with it: of the settings those count that a script leaves open.
    ///
    /// # Errors
    /// If it cannot be run, or does not come as the script expects.
    pub fn run_script(&self, catalog: &Catalog, script: &Script) -> Result<Outcome, ScriptError> {
        self.play_script(catalog, script)?.whole()
    }

    /// The same as far as the script goes, with what could be done next.
    ///
    /// # Errors
    /// If there is no such system.
    pub fn play_script(&self, catalog: &Catalog, script: &Script) -> Result<Played, ScriptError> {
        let refused = |refusal: Refusal| ScriptError::Impossible { line: 0, what: refusal.to_string() };
        self.subject(catalog).map_err(refused)?.play(script, &self.settings)
    }

    /// What a trace says first of this trial.
    #[must_use]
    pub fn header(&self) -> Header {
        let Settings { nodes, channels, start, seed, .. } = self.settings;
        let word = |(name, choice): (&str, &Choice)| (name.to_owned(), choice.word.clone());
        let options = self.options.iter().map(word).collect();
        let text = |(name, choice): (&str, &Choice)| Some((name.to_owned(), choice.file.clone()?));
        let files = self.resolved().unwrap_or_default().iter().filter_map(text).collect();
        let start_inside = start.holder();
        Header { channels, start_inside, options, files, ..Header::new(&self.algorithm, nodes, seed) }
    }

    /// The recording of this trial, from the events of its run.
    #[must_use]
    pub fn recording(&self, events: Vec<Event>) -> Recording {
        Recording { header: self.header(), events }
    }

    /// The numbers of an outcome of this trial.
    #[must_use]
    pub fn report(&self, outcome: &Outcome) -> Report {
        outcome.report(&self.algorithm, self.settings.nodes, self.settings.seed)
    }

    /// The command that makes this run, `program` being its name. Settings with their usual value are left out. A matrix of
    /// latencies comes from a file that a trial does not know; its word is `matrix`.
    #[must_use]
    pub fn command(&self, program: &str) -> String {
        let spec = RunSpec::of(&self.settings);
        let is_last = |definition: &Definition| definition.part == RunSpec::LAST_PART;
        let is_switch = |definition: &Definition| definition.kind == SettingKind::Switch;
        let mut words = vec![program.to_owned(), "simulate".to_owned(), self.algorithm.clone()];
        words.extend(settings::words(&spec, |one| !is_last(one) && !is_switch(one)));
        words.extend(settings::choice_words(&self.options));
        words.extend(settings::words(&spec, |one| is_last(one) && !is_switch(one)));
        words.extend(settings::words(&spec, is_switch));
        shell::joined(&words)
    }

    /// The choices as algorithms understand them: an elected tree is another one with each seed.
    ///
    /// # Errors
    /// If the election cannot be held among this number of nodes.
    pub fn resolved(&self) -> Result<Options, Refusal> {
        elected(&self.options, &self.settings)
    }

    /// The algorithm with what is chosen for it.
    ///
    /// # Errors
    /// If there is none of this name, or what is chosen does not fit it.
    pub fn subject(&self, catalog: &Catalog) -> Result<Box<dyn Subject>, Refusal> {
        catalog.subject(&self.algorithm, &self.resolved()?)
    }
}
