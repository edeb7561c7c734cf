//! From what was typed, and the heading of a script, to what is run.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use doorway_catalog::settings::{Delay, RunSpec};
use doorway_catalog::{Catalog, Trial, examples};
use doorway_core::{About, Members, Options, Refusal};
use doorway_simulator::{Heading, Latency, Outcome, Report, Script, Settings};

use super::Arguments;
use crate::typed::Typed;
use crate::{files, names, repetition};

/// Everything that is decided before the first run.
pub(super) struct SimulationPlan<'a> {
    pub(super) about: &'a About,
    /// What is run with each seed.
    pub(super) trial: Trial,
    /// The first and the last.
    pub(super) seeds: RangeInclusive<u64>,
    pub(super) threads: usize,
    pub(super) script: Option<(PathBuf, Script)>,
    /// The files that were chosen for the algorithm.
    pub(super) files: Vec<String>,
    /// Whether the report of each run is wanted.
    pub(super) keeps_reports: bool,
}

impl<'a> SimulationPlan<'a> {
    pub(super) fn new(catalog: &'a Catalog, arguments: &Arguments, typed: &Typed) -> Result<Self, Refusal> {
        if arguments.script.is_some() {
            refuse_what_a_script_decides(typed)?;
        }
        let script = arguments.script.as_deref().map(read_script).transpose()?;
        let none = Heading::default();
        let heading = script.as_ref().map_or(&none, |(_, script)| &script.heading);
        let name =
            arguments.algorithm.as_deref().or(heading.algorithm.as_deref()).ok_or_else(|| nameless(typed))?;
        let about = names::find(catalog, typed, name)?;
        let settings = settings(arguments, heading)?;
        let folder = arguments.script.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let choices = choices(arguments, heading, folder);
        let known = choices.iter().filter(|choice| about.parameter(choice.name).is_some());
        let files = known.filter_map(|choice| Some(choice.file()?.display().to_string())).collect();
        let options = options(&choices)?;
        let (seeds, threads) = (seeds(arguments)?, repetition::threads(arguments.threads, arguments.runs)?);
        let keeps_reports = arguments.json && arguments.runs > 1;
        let trial = Trial { algorithm: about.name.to_owned(), options, settings };
        Ok(Self { about, trial, seeds, threads, script, files, keeps_reports })
    }

    pub(super) fn report(&self, outcome: &Outcome, seed: u64) -> Report {
        outcome.report(self.about.name, self.trial.settings.nodes, seed)
    }

    /// What was chosen for the algorithm, as it was typed.
    pub(super) fn choices(&self) -> impl Iterator<Item = (&str, &str)> {
        self.trial.options.iter().map(|(name, choice)| (name, choice.word.as_str()))
    }

    /// What should be said although it is no error.
    pub(super) fn notes(&self) -> Vec<String> {
        doorway_catalog::warning(self.about, self.trial.settings.channels).into_iter().collect()
    }
}

fn nameless(typed: &Typed) -> Refusal {
    let program = &typed.program;
    Refusal::new(format!(
        "which algorithm? name one, or a script that does: `{program} algorithms` lists them"
    ))
}

/// The options that cannot be given with a script, and why.
const DECIDED_BY_SCRIPT: [(&[&str], &str); 4] = [
    (&["load", "entries", "hold", "warmup"], "a script says itself who asks and when"),
    (&["latency", "local_latency", "message"], "a script delivers each message itself"),
    (&["loss", "duplicate", "retransmit", "crash", "partition"], "a script says itself what goes wrong"),
    (&["runs", "threads"], "a script is one run"),
];

fn refuse_what_a_script_decides(typed: &Typed) -> Result<(), Refusal> {
    for (options, reason) in DECIDED_BY_SCRIPT {
        if let Some(option) = options.iter().find(|option| typed.has(option)) {
            let flag = option.replace('_', "-");
            return Err(Refusal::new(format!("--{flag} does not go with --script: {reason}")));
        }
    }
    Ok(())
}

/// The name of an example.
fn example(path: &Path) -> Option<&str> {
    path.to_str().and_then(|path| path.strip_prefix(examples::PREFIX))
}

/// The text of a script: of a file, or of an example.
pub(super) fn text_of(path: &Path) -> Result<String, Refusal> {
    match example(path) {
        Some(name) => Ok(examples::script(name)?.to_owned()),
        None => files::read(path),
    }
}

fn read_script(path: &Path) -> Result<(PathBuf, Script), Refusal> {
    let (example, text) = (example(path), text_of(path)?);
    let mut script =
        Script::parse(&text).map_err(|error| Refusal::new(format!("{}: {error}", path.display())))?;
    if example.is_some() {
        let ship = |word: &str| word.replacen("file:", examples::PREFIX, 1);
        script.heading.options.iter_mut().for_each(|(_, word)| *word = ship(word));
    }
    Ok((path.to_owned(), script))
}

/// The settings, in which each run replaces the seed.
fn settings(arguments: &Arguments, heading: &Heading) -> Result<Settings, Refusal> {
    let spec = spec(arguments, heading);
    let delay = spec.latency.one().map_err(|refusal| Refusal::new(format!("--{refusal}")))?;
    let file = match &delay {
        Some(Delay::Matrix(file)) => Some(file.as_str()),
        _ => None,
    };
    let blame = |refusal: Refusal| match file {
        Some(file) => Refusal::new(format!("{file}: {refusal}")),
        None => refusal,
    };
    // Checked without the matrix first, so that its file is blamed only for what is wrong with it.
    let usual = Settings::default().latency;
    let but_latency = spec.settings(|_| Ok(usual))?;
    let settings = match file {
        None => but_latency,
        Some(file) => {
            Members::new(but_latency.nodes)?;
            but_latency.check()?;
            let latency = Latency::matrix(&files::read(Path::new(file))?).map_err(blame)?;
            Settings { latency, ..but_latency }
        }
    };
    Members::new(settings.nodes)?;
    settings.check().map_err(blame)?;
    Ok(Settings { trace: arguments.trace.is_some() || arguments.svg.is_some(), ..settings })
}

/// What was typed, and where nothing was, what the heading of the script says.
fn spec(arguments: &Arguments, heading: &Heading) -> RunSpec {
    let mut spec = arguments.run.0.clone();
    if spec.nodes.is_empty() {
        spec.nodes.put(heading.nodes);
    }
    if spec.channels.is_empty() {
        spec.channels.put(heading.channels);
    }
    if spec.start_inside.is_empty() {
        spec.start_inside.put(heading.start_inside);
    }
    spec
}

/// One choice for the algorithm.
struct Chosen<'a> {
    name: &'a str,
    word: &'a str,
    /// Where a relative path begins.
    folder: &'a Path,
}

impl Chosen<'_> {
    fn file(&self) -> Option<PathBuf> {
        files::named(self.word, self.folder)
    }
}

/// What was chosen: by the heading of the script, whose files are beside it, and over that by what was typed.
fn choices<'a>(arguments: &'a Arguments, heading: &'a Heading, folder: &'a Path) -> Vec<Chosen<'a>> {
    let typed: Vec<(&str, &str)> = arguments.choices.words().collect();
    let is_typed = |name: &str| typed.iter().any(|(typed, _)| *typed == name);
    let of_heading = heading.options.iter().filter(|(name, _)| !is_typed(name));
    let of_heading = of_heading.map(|(name, word)| Chosen { name, word, folder });
    let typed = typed.iter().map(|&(name, word)| Chosen { name, word, folder: Path::new("") });
    of_heading.chain(typed).collect()
}

fn options(choices: &[Chosen<'_>]) -> Result<Options, Refusal> {
    let mut options = Options::none();
    for Chosen { name, word, folder } in choices {
        options.set(name, files::choice(word, folder)?);
    }
    Ok(options)
}

fn seeds(arguments: &Arguments) -> Result<RangeInclusive<u64>, Refusal> {
    if arguments.runs > 1 && arguments.trace.is_some() {
        return Err(Refusal::new("a trace is of one run: leave --runs out, or --trace"));
    }
    if arguments.runs > 1 && arguments.svg.is_some() {
        return Err(Refusal::new("a drawing is of one run: leave --runs out, or --svg"));
    }
    repetition::seeds(arguments.run.0.seed.one_or(Settings::default().seed)?, arguments.runs)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use doorway_core::Channels;

    use super::*;

    #[derive(Parser)]
    struct Parsed {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn typed(words: &[&str]) -> Arguments {
        let words = std::iter::once("doorway").chain(words.iter().copied());
        Parsed::try_parse_from(words).expect("these can be parsed").arguments
    }

    #[test]
    fn what_is_not_typed_is_as_the_simulator_has_it() {
        let settings = settings(&typed(&[]), &Heading::default()).expect("the defaults fit together");
        assert_eq!(format!("{settings:?}"), format!("{:?}", Settings::default()));
    }

    #[test]
    fn what_is_typed_overrides_the_heading_of_the_script() {
        let heading = Heading {
            nodes: Some(13),
            channels: Some(Channels::Any),
            options: vec![("tree".to_owned(), "star".to_owned()), ("quorum".to_owned(), "grid".to_owned())],
            ..Heading::default()
        };
        let arguments = typed(&["--nodes", "7", "--tree", "chain"]);
        let settings = settings(&arguments, &heading).expect("these fit together");
        assert_eq!((settings.nodes, settings.channels), (7, Channels::Any));
        let options = options(&choices(&arguments, &heading, Path::new(""))).expect("no file is named");
        let words: Vec<&str> = options.iter().map(|(_, choice)| choice.word.as_str()).collect();
        assert_eq!(words, ["grid", "chain"]);
    }

    #[test]
    fn what_a_script_decides_is_known_to_the_definitions() {
        let command = Parsed::command();
        for option in DECIDED_BY_SCRIPT.iter().flat_map(|(options, _)| *options) {
            assert!(command.get_arguments().any(|argument| argument.get_id() == option), "{option}");
        }
    }

    #[test]
    fn seeds_and_threads_have_limits() {
        let refused = |words: &[&str]| {
            let arguments = typed(words);
            let threads = repetition::threads(arguments.threads, arguments.runs);
            seeds(&arguments).and(threads.map(|_| ())).expect_err("out of the limits").to_string()
        };
        assert_eq!(refused(&["--runs", "0"]), "--runs must be at least 1");
        assert_eq!(refused(&["--threads", "0"]), "--threads must be at least 1");
        assert!(refused(&["--threads", "1025"]).contains("at most 1024"));
        assert!(refused(&["--seed", &u64::MAX.to_string(), "--runs", "2"]).contains("smaller"));
        assert!(refused(&["--runs", "2", "--trace", "x"]).contains("--trace"));
        assert!(refused(&["--runs", "2", "--svg", "x.svg"]).contains("--svg"));
        assert_eq!(seeds(&typed(&["--seed", "5", "--runs", "3"])), Ok(5..=7));
    }
}
