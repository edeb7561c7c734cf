//! From what was typed, and the heading of a script, to what is run.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use doorway_catalog::{Catalog, Trial, examples};
use doorway_core::{About, Channels, Members, NodeId, Options, Refusal, Start, Ticks};
use doorway_simulator::{Faults, Heading, Latency, Outcome, Report, Script, Settings};

use super::Arguments;
use crate::typed::Typed;
use crate::{files, names, repetition};

/// Everything that is decided before the first run.
pub(super) struct Plan<'a> {
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

impl<'a> Plan<'a> {
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

/// The options that a script has no use for, with the reason that is told to whoever gives them.
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

/// The settings without a seed, which each run has its own of.
fn settings(arguments: &Arguments, heading: &Heading) -> Result<Settings, Refusal> {
    let default = Settings::default();
    let nodes = arguments.nodes.or(heading.nodes).unwrap_or(default.nodes);
    let start_inside: Option<NodeId> = arguments.start_inside.or(heading.start_inside);
    let channels: Option<Channels> = arguments.channels.or(heading.channels);
    let but_latency = Settings {
        nodes: Members::new(nodes)?.n(),
        entries: arguments.entries,
        load: parsed("--load", &arguments.load)?,
        hold: parsed("--hold", &arguments.hold)?,
        local_latency: Ticks(arguments.local_latency),
        channels: channels.unwrap_or(default.channels),
        faults: Faults {
            loss: arguments.loss,
            duplicate: arguments.duplicate,
            retransmit: arguments.retransmit,
            crashes: arguments.crash.clone(),
            partitions: arguments.partition.clone(),
        },
        messages: arguments.message.clone(),
        start: start_inside.map_or(default.start, Start::Inside),
        warmup: arguments.warmup,
        seed: arguments.seed,
        invariants: arguments.invariants,
        order: arguments.order,
        trace: arguments.trace.is_some() || arguments.svg.is_some(),
        ..default
    };
    but_latency.check()?;
    with_latency(but_latency, &arguments.latency)
}

/// What was typed for a flag, which is to blame if it cannot be understood.
fn parsed<T: FromStr<Err = Refusal>>(flag: &str, word: &str) -> Result<T, Refusal> {
    word.parse().map_err(|refusal| Refusal::new(format!("{flag}: {refusal}")))
}

/// The settings, which fit together, with this latency; if that does not fit, its file is to blame.
fn with_latency(settings: Settings, word: &str) -> Result<Settings, Refusal> {
    let Some(path) = word.strip_prefix("matrix:") else {
        let settings = Settings { latency: parsed("--latency", word)?, ..settings };
        settings.check()?;
        return Ok(settings);
    };
    if path.is_empty() {
        return Err(Refusal::new(
            "--latency: matrix: needs the name of a file behind it, as in matrix:mine.latencies",
        ));
    }
    let blame = |refusal: Refusal| Refusal::new(format!("{path}: {refusal}"));
    let latency = Latency::matrix(&files::read(Path::new(path))?).map_err(blame)?;
    let settings = Settings { latency, ..settings };
    settings.check().map_err(blame)?;
    Ok(settings)
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
    let flags = [
        ("quorum", &arguments.quorum),
        ("structure", &arguments.structure),
        ("tree", &arguments.tree),
        ("arbitration", &arguments.arbitration),
    ];
    let flags = flags.into_iter().filter_map(|(name, word)| Some((name, word.as_deref()?)));
    let set = arguments.set.iter().map(|(name, word)| (name.as_str(), word.as_str()));
    let typed: Vec<(&str, &str)> = flags.chain(set).collect();
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
    repetition::seeds(arguments.seed, arguments.runs)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

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
