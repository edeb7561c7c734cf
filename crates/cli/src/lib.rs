//! The command `doorway`, one file per verb.
//!
//! A verb is a function from the catalog and what was typed to an `Answer` or a refusal; only this file prints. So a
//! verb never leaves half of a table behind, and every error is one sentence on stderr.
//!
//! A program outside this workspace has the whole command with its own algorithm in it:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use doorway_catalog::Catalog;
//!
//! fn main() -> ExitCode {
//!     // doorway_cli::run(Catalog::textbook().with(my_algorithm::entry()))
//!     doorway_cli::run(Catalog::textbook())
//! }
//! ```

mod algorithms;
mod bank;
mod breaking;
mod chaos;
mod check;
mod claims;
mod cluster;
mod compare;
mod completions;
mod exit;
mod explain;
mod files;
mod flags;
mod line;
mod lock;
mod man;
mod names;
mod node;
mod programs;
mod question;
mod quorum;
mod records;
mod repetition;
mod simulate;
mod status;
mod structure;
mod studio;
mod sweep;
mod trace;
mod typed;
mod usage;
mod wakeups;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use doorway_catalog::Catalog;
use doorway_core::Refusal;
use typed::Typed;

pub use exit::Exit;

/// Runs the command with what was typed and this catalog.
pub fn run(catalog: Catalog) -> ExitCode {
    run_from(catalog, std::env::args_os(), &mut io::stdout().lock(), &mut io::stderr()).into()
}

/// The same with other arguments (the first is the program's name) and other places to print to.
pub fn run_from(
    catalog: Catalog,
    arguments: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Exit {
    let mut typed = Typed::new(arguments);
    let answer = answer(&catalog, &mut typed);
    let mut tell = |sentence: &str| tell(err, &typed.program, sentence);
    match answer {
        Ok(answer) => print(&answer, out, tell),
        Err(refusal) => {
            tell(&refusal.to_string());
            Exit::BadUsage
        }
    }
}

/// What a verb has to say, complete before any of it is printed.
struct Answer {
    /// For stdout.
    text: String,
    /// Sentences for stderr.
    notes: Vec<String>,
    exit: Exit,
}

impl Answer {
    fn holds(text: String) -> Self {
        Self { text, notes: Vec::new(), exit: Exit::Holds }
    }

    /// What was asked for could not be done, for the reason in this sentence.
    fn failed(sentence: String) -> Self {
        Self { text: String::new(), notes: vec![sentence], exit: Exit::Fails }
    }
}

/// A distributed lock, and a laboratory of mutual-exclusion algorithms
#[derive(Parser)]
#[command(
    name = typed::USUAL_NAME,
    version,
    after_help = "Examples:
  doorway algorithms                       the list
  doorway explain ricart-agrawala          one page of the textbook
  doorway simulate maekawa --nodes 13      run it and count its messages
  doorway compare                          all algorithms side by side
  doorway claims                           the literature's claims against runs
  doorway check ricart-agrawala --nodes 3  every interleaving of a small system
  doorway quorum plane --nodes 13          build a quorum system and verify it
  doorway structure four-node              which nodes a node asks, informs
  doorway bank --broken E1                 transfers under a broken lock
  doorway sweep --algorithms all --nodes 2..64:x2 --out costs
                                           a grid of runs, a row for each
  doorway chaos --seeds 20                 lock nodes under injected faults
  doorway trace html run.jsonl -o run.html a recorded run to step through
  doorway studio --open                    all of this in the browser
  doorway node --dev                       three lock nodes to try things with
  doorway lock NAME -- COMMAND             run a command under a lock
  doorway status                           locks, holders and waiters

Exit status: 0 if what was asked holds, 1 if it does not, 2 on bad usage, 3 if undecided; \
`doorway lock` exits with the status of its command."
)]
struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    Algorithms(algorithms::Arguments),
    Explain(explain::Arguments),
    Simulate(Box<simulate::Arguments>),
    Compare(Box<compare::Arguments>),
    Claims(claims::Arguments),
    Check(Box<check::Arguments>),
    Quorum(quorum::Arguments),
    Structure(Box<structure::Arguments>),
    Bank(Box<bank::Arguments>),
    Sweep(Box<sweep::Arguments>),
    Chaos(Box<chaos::Arguments>),
    Trace(trace::Arguments),
    Studio(studio::Arguments),
    Cluster(cluster::Arguments),
    Node(node::Arguments),
    Lock(Box<lock::Arguments>),
    Status(status::Arguments),
    Break(breaking::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

fn answer(catalog: &Catalog, typed: &mut Typed) -> Result<Answer, Refusal> {
    if let Some(answer) = lock::held_run::answer(&typed.words) {
        return Ok(answer);
    }
    if let Some(answer) = bank::real::process::answer(&typed.words) {
        return answer;
    }
    let mut command = definitions(typed);
    let parsed = command.try_get_matches_from_mut(&typed.words).and_then(|matches| {
        typed.note_options(&matches);
        Arguments::from_arg_matches(&matches)
    });
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => return usage::answer(&error),
    };
    match arguments.verb {
        None => Ok(Answer::holds(command.render_help().to_string())),
        Some(Verb::Algorithms(arguments)) => algorithms::answer(catalog, &arguments, typed),
        Some(Verb::Explain(arguments)) => explain::answer(catalog, &arguments, typed),
        Some(Verb::Simulate(arguments)) => simulate::answer(catalog, &arguments, typed),
        Some(Verb::Compare(arguments)) => compare::answer(catalog, &arguments, typed),
        Some(Verb::Claims(arguments)) => claims::answer(catalog, &arguments, typed),
        Some(Verb::Check(arguments)) => check::answer(catalog, &arguments, typed),
        Some(Verb::Quorum(arguments)) => quorum::answer(&arguments),
        Some(Verb::Structure(arguments)) => structure::answer(catalog, &arguments),
        Some(Verb::Bank(arguments)) => bank::answer(catalog, &arguments, typed),
        Some(Verb::Sweep(arguments)) => sweep::answer(catalog, &arguments, typed),
        Some(Verb::Chaos(arguments)) => chaos::answer(catalog, &arguments, typed),
        Some(Verb::Trace(arguments)) => trace::answer(catalog, &arguments),
        Some(Verb::Studio(arguments)) => studio::answer(catalog, &arguments),
        Some(Verb::Cluster(arguments)) => cluster::answer(catalog, &arguments, typed),
        Some(Verb::Node(arguments)) => node::answer(catalog, &arguments, typed),
        Some(Verb::Lock(arguments)) => lock::answer(&arguments, typed),
        Some(Verb::Status(arguments)) => status::answer(&arguments),
        Some(Verb::Break(arguments)) => breaking::answer(&arguments),
        Some(Verb::Completions(arguments)) => completions::answer(catalog, &arguments, typed),
        Some(Verb::Man(arguments)) => man::answer(catalog, &arguments, typed),
    }
}

/// The definitions of all verbs, under the name of this program.
fn definitions(typed: &Typed) -> clap::Command {
    typed.renamed(Arguments::command())
}

/// The definitions from which completions and manual pages are made: what is parsed, and the names of the catalog.
fn described(catalog: &Catalog, typed: &Typed) -> clap::Command {
    let names: Vec<&'static str> = catalog.list().iter().map(|about| about.name).collect();
    let takers = [
        ("explain", "algorithm"),
        ("simulate", "algorithm"),
        ("compare", "algorithms"),
        ("check", "algorithm"),
        ("bank", "algorithm"),
    ];
    let described = takers.into_iter().fold(definitions(typed), |command, (verb, argument)| {
        let names = names.clone();
        command.mut_subcommand(verb, |verb| verb.mut_arg(argument, |argument| argument.value_parser(names)))
    });
    let names: Vec<&'static str> = std::iter::once("all").chain(names).collect();
    described.mut_subcommand("chaos", |verb| {
        verb.mut_arg("algorithm", |argument| argument.value_parser(names))
            .mut_arg("flaw", |argument| argument.value_parser(chaos::flaws()))
    })
}

/// Prints an answer. A reader that has seen enough, such as `head`, is no error.
fn print(answer: &Answer, out: &mut dyn Write, mut tell: impl FnMut(&str)) -> Exit {
    for note in &answer.notes {
        tell(note);
    }
    match out.write_all(answer.text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            tell(&format!("the output cannot be written: {error}"));
            Exit::BadUsage
        }
        Ok(()) | Err(_) => answer.exit,
    }
}

/// Prints one sentence on stderr. If that fails, there is nowhere left to report it.
fn tell(err: &mut dyn Write, program: &str, sentence: &str) {
    let _ = writeln!(err, "{program}: {sentence}");
}
