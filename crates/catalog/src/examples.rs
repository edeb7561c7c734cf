//! The textbook examples that ship with Doorway, so that they are at hand wherever the command is: `example:NAME`.

use doorway_core::{Choice, Options, Refusal};
use doorway_simulator::{Heading, Outcome, Script, ScriptError};

use crate::{Catalog, Trial};

/// What a word begins with that names an example instead of a file.
pub const PREFIX: &str = "example:";

/// A file that ships with Doorway.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its name, without the ending that all scripts have.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! scripts {
    ($($name:literal),* $(,)?) => {
        [$(Example { name: $name, text: include_str!(concat!("../../../scripts/", $name, ".script")) }),*]
    };
}

/// The scripts.
pub const SCRIPTS: &[Example] = &scripts![
    "carvalho-roucairol-told",
    "central-server",
    "central-told",
    "clocks/jump",
    "clocks/no-jump",
    "clocks/overtaken",
    "clocks/quiz",
    "clocks/vector",
    "lamport-without-fifo",
    "maekawa-overtaken",
    "memory/bakery-tickets-grow",
    "memory/lamport-fast-alone",
    "memory/lamport-fast-slow-path",
    "replicated-takes-over",
    "ricart-agrawala-told",
    "ricart-agrawala-two-of-three",
    "singhal-inside-and-requesting",
    "singhal-nearest",
    "singhal-unsorted",
    "specimens/carvalho-roucairol-no-asking-back",
    "specimens/carvalho-roucairol-permission-kept",
    "specimens/lamport-double-stamps",
    "specimens/lamport-equal-stamps",
    "specimens/lamport-stamp-before-tick",
    "specimens/lamport-stamp-per-copy",
    "specimens/lamport-stamped-early",
    "specimens/maekawa-basic",
    "specimens/maekawa-failed-remembered",
    "specimens/maekawa-inquire-answered-inside",
    "specimens/maekawa-inquire-before-locked",
    "specimens/maekawa-inquire-before-locked-seven-nodes",
    "specimens/maekawa-inquired-for-ever",
    "specimens/maekawa-never-free",
    "specimens/maekawa-node-first",
    "specimens/maekawa-one-inquire-answered",
    "specimens/maekawa-unnamed-requests",
    "specimens/maekawa-unnamed-requests-seven-nodes",
    "specimens/raymond-token-away-while-inside",
    "specimens/replicated-grant-before-ack",
    "specimens/ricart-agrawala-deferred-not-cleared",
    "specimens/ricart-agrawala-deferred-not-cleared-fifo",
    "specimens/ricart-agrawala-double-stamps",
    "specimens/ricart-agrawala-equal-stamps",
    "specimens/ricart-agrawala-stamped-early",
    "specimens/sanders-clocks-not-merged",
    "specimens/sanders-no-remedy",
    "specimens/sanders-own-request-travels",
    "specimens/sanders-unchecked-structure",
    "specimens/sanders-unchecked-structure-unasked",
    "specimens/singhal-idle-while-inside",
    "specimens/singhal-no-chase",
    "specimens/suzuki-kasami-own-entry",
    "thirteen-nodes-deadlock",
    "thirteen-nodes-resolved",
    "token-ring-told",
];

/// The files that scripts and commands can name besides.
pub const FILES: &[Example] = &[
    Example { name: "star.quorums", text: include_str!("../../../scripts/star.quorums") },
    Example { name: "thirteen-nodes.quorums", text: include_str!("../../../scripts/thirteen-nodes.quorums") },
];

/// The text of a file that ships, by its name.
///
/// # Errors
/// If there is none of this name, with those that there are.
pub fn file(name: &str) -> Result<&'static str, Refusal> {
    find(FILES, name, "file")
}

/// The text of a script that ships, by its name.
///
/// # Errors
/// If there is none of this name, with those that there are.
pub fn script(name: &str) -> Result<&'static str, Refusal> {
    find(SCRIPTS, name.strip_suffix(".script").unwrap_or(name), "script")
}

fn find(examples: &[Example], name: &str, what: &str) -> Result<&'static str, Refusal> {
    let found = examples.iter().find(|example| example.name == name);
    found.map(|example| example.text).ok_or_else(|| {
        let names: Vec<&str> = examples.iter().map(|example| example.name).collect();
        Refusal::new(format!("no {what} {name:?} ships with Doorway: there are {}", names.join(", ")))
    })
}

/// The choices of a script's heading, whose files ship with it.
///
/// # Errors
/// If it names a file that does not ship.
pub fn choices(heading: &Heading) -> Result<Options, Refusal> {
    let mut options = Options::none();
    for (name, word) in &heading.options {
        let text = word.strip_prefix("file:").map(file).transpose()?;
        options.set(name, Choice { word: word.clone(), file: text.map(str::to_owned) });
    }
    Ok(options)
}

/// Plays a script that ships, with all invariants tested.
///
/// # Errors
/// If there is none of this name, or it does not come as it says.
pub fn play(name: &str, catalog: &Catalog) -> Result<Outcome, ScriptError> {
    let refused = |refusal: Refusal| ScriptError::Impossible { line: 0, what: refusal.to_string() };
    let script = Script::parse(script(name).map_err(refused)?)?;
    let options = choices(&script.heading).map_err(refused)?;
    Trial::of_script(&script.heading, options).run_script(catalog, &script)
}

/// What to type to play it.
#[must_use]
pub fn command(program: &str, name: &str) -> String {
    format!("{program} simulate --script {PREFIX}{name}")
}
