//! One run in the words of the command line, as a page sends it.

use std::collections::BTreeMap;

use doorway_catalog::settings::{self, RawValue};
use doorway_catalog::states::{Recorded, States};
use doorway_catalog::{Catalog, Trial, examples, warning};
use doorway_core::{Options, Refusal};
use doorway_experiments::compare::formula;
use doorway_experiments::memory::{Followed, Replay};
use doorway_simulator::{Latency, Outcome, Played, Script, ScriptError, Settings};
use doorway_trace::{Event, Recording, TraceError, What};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Bounds, Files, Trouble, impossible};
use crate::view::{End, EndState, PromisedCost, RunView, sentence};

/// One run: an algorithm and its settings, or a script, or a recorded trace.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct RunRequest {
    algorithm: Option<String>,
    options: BTreeMap<String, RawValue>,
    script: Option<String>,
    trace: Option<String>,
    /// The texts of the files that words name, by their names: nothing is ever read from a disk.
    files: Files,
    /// Each word is that of a flag of `doorway simulate`.
    #[serde(flatten)]
    settings: settings::RunSpec,
}

impl RunRequest {
    /// So many entries, unless said otherwise: what one can still look at.
    pub const USUAL_ENTRIES: u64 = 12;

    /// Whether it brings a recorded trace along.
    #[must_use]
    pub fn is_trace(&self) -> bool {
        self.trace.is_some()
    }

    /// Makes the run and looks at it.
    ///
    /// # Errors
    /// If it cannot be read, or cannot be run.
    pub fn view(&self, catalog: &Catalog, bounds: &Bounds) -> Result<RunView, Trouble> {
        match (&self.script, &self.trace, &self.algorithm) {
            (Some(script), None, None) => self.of_script(script, catalog, bounds),
            (None, Some(trace), None) => of_trace(trace, catalog, bounds),
            (None, None, Some(name)) => self.of_trial(name, catalog, bounds),
            _ => Err(unreadable("a run is given by one of algorithm, script and trace")),
        }
    }

    fn of_trial(&self, name: &str, catalog: &Catalog, bounds: &Bounds) -> Result<RunView, Trouble> {
        let trial = self.trial(name).map_err(Trouble::Unreadable)?;
        if catalog.about_program(name).is_some() {
            return Err(impossible(format!(
                "{name} sends no messages, it shares memory: give a script of steps"
            )));
        }
        let settings = Settings { trace: true, limits: bounds.limits.clone(), ..trial.settings.clone() };
        let trial = Trial { settings, ..trial };
        bounds.check(trial.settings.nodes, trial.settings.entries)?;
        let outcome = trial.run(catalog).map_err(Trouble::Impossible)?;
        let (events, end) = bounds.shown(outcome.events(), End::of(&outcome, false));
        let recording = trial.recording(events);
        let mut view = RunView::new(recording, catalog, bounds, end);
        view.spec = understood(&trial);
        view.command = Some(trial.command("doorway"));
        view.tell_numbers(&trial, &outcome, catalog);
        Ok(view)
    }

    fn of_script(&self, script: &str, catalog: &Catalog, bounds: &Bounds) -> Result<RunView, Trouble> {
        let text = match script.strip_prefix(examples::PREFIX) {
            Some(name) => examples::script(name).map_err(Trouble::Impossible)?,
            None => script,
        };
        let mut view = match Replay::is_for(text, catalog) {
            true => self.of_steps(text, catalog, bounds)?,
            false => self.of_actions(text, catalog, bounds)?,
        };
        let word = if script.starts_with(examples::PREFIX) { script } else { "FILE" };
        view.command = Some(format!("doorway simulate --script {word}"));
        view.spec = json!({"script": script, "files": self.files});
        view.script = Some(text.to_owned());
        Ok(view)
    }

    fn of_actions(&self, text: &str, catalog: &Catalog, bounds: &Bounds) -> Result<RunView, Trouble> {
        let script = Script::parse(text).map_err(read_error)?;
        let mut options = Options::none();
        for (name, word) in &script.heading.options {
            options.set(name, self.files.choice(word).map_err(Trouble::Impossible)?);
        }
        let mut trial = Trial::of_script(&script.heading, options);
        trial.settings.limits = bounds.limits.clone();
        bounds.check(trial.settings.nodes, 0)?;
        let played = trial.play_script(catalog, &script).map_err(play_error)?;
        let Played { outcome, choices, trouble } = played;
        let end = ended(trouble.as_ref(), || End::of(&outcome, true));
        let (events, end) = bounds.shown(outcome.events(), end);
        let mut view = RunView::new(trial.recording(events), catalog, bounds, end);
        view.trouble = trouble.map(|trouble| trouble.to_string()).or(view.trouble);
        view.choices = choices;
        view.tell_numbers(&trial, &outcome, catalog);
        Ok(view)
    }

    fn of_steps(&self, text: &str, catalog: &Catalog, bounds: &Bounds) -> Result<RunView, Trouble> {
        let followed = Replay::follow(text, &Options::none(), catalog).map_err(|error| match error {
            ScriptError::Impossible { line: 0, .. } => play_error(error),
            ScriptError::Impossible { .. } | ScriptError::Unmet { .. } => read_error(error),
        })?;
        let Followed { replay, choices, trouble } = followed;
        let end = ended(trouble.as_ref(), || End::of_replay(&replay));
        let mut view = RunView::new(replay.recording(), catalog, bounds, end);
        view.trouble = trouble.map(|trouble| trouble.to_string()).or(view.trouble);
        view.choices = choices;
        Ok(view)
    }

    /// The trial that these words describe.
    fn trial(&self, name: &str) -> Result<Trial, Refusal> {
        let (options, settings) = (self.files.options(&self.options)?, self.settings()?);
        Ok(Trial { algorithm: name.to_owned(), options, settings })
    }

    fn settings(&self) -> Result<Settings, Refusal> {
        let matrix = |file: &str| {
            let blame = |refusal: Refusal| Refusal::new(format!("{file}: {refusal}"));
            Latency::matrix(self.files.text(file)?).map_err(blame)
        };
        let settings = self.settings.settings(matrix)?;
        let entries = self.settings.entries.one_or(Self::USUAL_ENTRIES)?;
        Ok(Settings { entries, ..settings })
    }
}

impl Bounds {
    /// The events that are shown, and how the run ends for whoever sees no more than them. A step may have gone beyond the limit.
    fn shown(&self, mut events: Vec<Event>, end: End) -> (Vec<Event>, End) {
        let most = self.limits.events.unwrap_or(usize::MAX);
        if events.len() <= most {
            return (events, end);
        }
        events.truncate(most);
        let is_seen = match end.state {
            EndState::Refused => true,
            EndState::Violated => events.iter().any(|event| matches!(event.what, What::Violation { .. })),
            _ => false,
        };
        (events, if is_seen { end } else { End::cut(most) })
    }
}

impl RunView {
    fn new(recording: Recording, catalog: &Catalog, bounds: &Bounds, end: End) -> Self {
        let states = States::of(
            &Recorded {
                cancelled: bounds.cancelled.as_ref(),
                ..Recorded::new(&recording.header, &recording.events)
            },
            catalog,
        );
        let name = &recording.header.algorithm;
        let program = catalog.about_program(name);
        let about = catalog.about(name);
        let warning = about.and_then(|about| warning(about, recording.header.channels));
        let title = about.map(|about| about.title).or(program.map(|about| about.title));
        Self {
            spec: Value::Null,
            command: None,
            title: title.unwrap_or(name).to_owned(),
            is_memory: program.is_some(),
            report: None,
            formula: None,
            choices: Vec::new(),
            end,
            wait_cycle: Vec::new(),
            script: None,
            warning: warning.map(|words| sentence(&words)),
            trouble: states.trouble().map(str::to_owned),
            recording,
            states,
        }
    }

    fn tell_numbers(&mut self, trial: &Trial, outcome: &Outcome, catalog: &Catalog) {
        self.report = Some(trial.report(outcome));
        self.wait_cycle = outcome.stall.as_ref().map(|stall| stall.cycle.clone()).unwrap_or_default();
        self.formula = catalog.about(&trial.algorithm).map(|about| {
            let bounds = formula(about, trial);
            PromisedCost {
                messages: about.messages.formula,
                least: bounds.map(|[least, _]| least),
                most: bounds.map(|[_, most]| most).filter(|most| most.is_finite()),
                delay: about.delay,
            }
        });
    }
}

/// A recorded run from its text.
fn of_trace(text: &str, catalog: &Catalog, bounds: &Bounds) -> Result<RunView, Trouble> {
    let read_error = |error: TraceError| Trouble::Unreadable(Refusal::new(error.to_string()));
    let (header, events) = doorway_trace::read(text.as_bytes()).map_err(read_error)?;
    bounds.check(header.nodes, 0)?;
    let most = bounds.limits.events.unwrap_or(usize::MAX);
    let mut events =
        events.take(most.saturating_add(1)).collect::<Result<Vec<_>, _>>().map_err(read_error)?;
    let is_cut = events.len() > most;
    events.truncate(most);
    let end = End::of_trace(&events, is_cut);
    let view = RunView::new(Recording { header, events }, catalog, bounds, end);
    Ok(RunView { spec: json!({"trace": true}), ..view })
}

/// The spec as it was understood, with the usual value of everything that was not given.
fn understood(trial: &Trial) -> Value {
    let options: BTreeMap<&str, &str> =
        trial.options.iter().map(|(name, choice)| (name, choice.word.as_str())).collect();
    let mut spec = settings::filled(&settings::RunSpec::of(&trial.settings));
    spec.insert("algorithm".to_owned(), json!(trial.algorithm));
    spec.insert("options".to_owned(), json!(options));
    Value::Object(spec)
}

fn ended(trouble: Option<&ScriptError>, otherwise: impl FnOnce() -> End) -> End {
    trouble.map_or_else(otherwise, |trouble| End::refused(&trouble.to_string()))
}

fn read_error(error: ScriptError) -> Trouble {
    Trouble::Unreadable(Refusal::new(error.to_string()))
}

fn play_error(error: ScriptError) -> Trouble {
    Trouble::Impossible(Refusal::new(error.to_string()))
}

fn unreadable(sentence: &str) -> Trouble {
    Trouble::Unreadable(Refusal::new(sentence))
}
