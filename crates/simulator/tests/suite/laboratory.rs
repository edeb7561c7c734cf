//! How the tests run an algorithm that they know by name.

use std::fs;
use std::path::PathBuf;

use doorway_core::{About, Catalog, Choice, Explain, Factory, Hints, Options, Start, Visitor};
use doorway_simulator::{Heading, Outcome, Script, ScriptError, Settings, simulate};

struct Run<'a>(&'a Settings);

impl Visitor for Run<'_> {
    type Output = Outcome;

    fn visit<A: Explain + Hints>(self, _: &About, factory: Factory<A>) -> Outcome {
        simulate(&factory, self.0).expect("the settings fit together")
    }
}

/// Runs the algorithm of this name.
pub fn run(name: &str, options: &Options, settings: &Settings) -> Outcome {
    let outcome = doorway_algorithms::catalog().visit(name, options, Run(settings));
    outcome.expect("it is in the catalog").expect("the options are right")
}

/// Runs it with what is chosen when nothing is said.
pub fn run_plain(name: &str, settings: &Settings) -> Outcome {
    run(name, &Options::none(), settings)
}

/// The names of all correct algorithms.
pub fn correct() -> Vec<&'static str> {
    let catalog = doorway_algorithms::catalog();
    catalog.list().into_iter().filter(|about| about.specimen.is_none()).map(|about| about.name).collect()
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
    let listed =
        [folder(), folder().join("specimens")].map(|folder| fs::read_dir(folder).expect("it is there"));
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

struct Play<'a>(&'a Script, &'a Settings);

impl Visitor for Play<'_> {
    type Output = Result<Outcome, ScriptError>;

    fn visit<A: Explain + Hints>(self, _: &About, factory: Factory<A>) -> Self::Output {
        self.0.run(&factory, self.1)
    }
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
    let played = doorway_algorithms::catalog().visit(name, &options(heading), Play(&script, &settings));
    played.expect("it is in the catalog").expect("its options are right")
}
