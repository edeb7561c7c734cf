//! How the tests run an algorithm that they know by name.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use doorway_catalog::{Catalog, Subject};
use doorway_core::{Choice, Options, Start};
use doorway_simulator::{Heading, Outcome, Script, ScriptError, Settings};

/// The catalog that all tests share.
pub fn textbook() -> &'static Catalog {
    static TEXTBOOK: LazyLock<Catalog> = LazyLock::new(Catalog::textbook);
    &TEXTBOOK
}

/// An algorithm with what is chosen for it, written `quorum=grid`, or nothing.
pub fn subject(name: &str, choice: &str) -> Box<dyn Subject> {
    let chosen = choice.split_once('=');
    let options = chosen.map_or_else(Options::none, |(name, word)| Options::none().with(name, word));
    textbook().subject(name, &options).expect("it is in the catalog, and its options are right")
}

/// Runs the algorithm of this name.
pub fn run(name: &str, options: &Options, settings: &Settings) -> Outcome {
    let subject = textbook().subject(name, options).expect("it is in the catalog, and its options are right");
    subject.simulate(settings).expect("the settings fit together")
}

/// Runs it with what is chosen when nothing is said.
pub fn run_plain(name: &str, settings: &Settings) -> Outcome {
    run(name, &Options::none(), settings)
}

/// The names of all correct algorithms.
pub fn correct() -> Vec<&'static str> {
    textbook().list().into_iter().filter(|about| about.specimen.is_none()).map(|about| about.name).collect()
}

/// What people type, read.
pub fn typed<T: std::str::FromStr<Err: std::fmt::Debug>>(word: &str) -> T {
    word.parse().expect("what people type")
}

/// Where the scripts that ship are.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scripts")
}

/// Every script that ships, those of specimens included.
pub fn scripts() -> Vec<PathBuf> {
    let listed = [folder(), folder().join("clocks"), folder().join("specimens")]
        .map(|folder| fs::read_dir(folder).expect("it is there"));
    let paths = listed.into_iter().flatten().map(|entry| entry.expect("it can be listed").path());
    let mut scripts: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "script")).collect();
    scripts.sort();
    scripts
}

/// The text of a script that ships.
pub fn shipped(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect("the script is there")
}

fn options(heading: &Heading) -> Options {
    let mut options = Options::none();
    for (name, word) in &heading.options {
        let file = word
            .strip_prefix("file:")
            .map(|path| fs::read_to_string(folder().join(path)).expect("the script's file is beside it"));
        options.set(name, Choice { word: word.clone(), file });
    }
    options
}

/// Runs a script, with every invariant on, and writes down what happens.
pub fn play(text: &str) -> Result<Outcome, ScriptError> {
    let script = Script::parse(text)?;
    let heading = &script.heading;
    let defaults = Settings::default();
    let settings = Settings {
        nodes: heading.nodes.expect("a script of ours says how many nodes it has"),
        channels: heading.channels.unwrap_or(defaults.channels),
        start: heading.start_inside.map_or(Start::Empty, Start::Inside),
        invariants: true,
        trace: true,
        ..defaults
    };
    let name = heading.algorithm.as_deref().expect("a script of ours names its algorithm");
    let subject = textbook().subject(name, &options(heading));
    let subject = subject.expect("it is in the catalog, and its options are right");
    subject.play(&script, &settings)?.whole()
}
