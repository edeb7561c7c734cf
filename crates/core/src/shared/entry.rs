//! How programs are listed, and how the processes of a system come to be.

use std::fmt;

use serde::Serialize;

use super::{Process, Program};
use crate::entry::page;
use crate::{Members, NodeId, Options, Parameter, Refusal, Specimen};

/// What people are told about a program.
#[derive(Clone, Debug)]
pub struct AboutProgram {
    /// What one types: `bakery`; a variant is `bakery/one-word`.
    pub name: &'static str,
    /// What the literature calls it.
    pub title: &'static str,
    /// What it promises to whoever waits.
    pub promise: Fairness,
    /// What can be chosen.
    pub parameters: &'static [Parameter],
    /// The choices that change what is promised, each a name and a word: tables have a row for each.
    pub variants: &'static [(&'static str, &'static str)],
    /// The source of its file, whose header is its page in the textbook: `include_str!("name.rs")`.
    pub source: &'static str,
    /// What is wrong with it, if it is kept because it is wrong.
    pub specimen: Option<Specimen>,
}

impl AboutProgram {
    /// The page of the textbook: the header of the program's file.
    #[must_use]
    pub fn page(&self) -> String {
        page(self.source)
    }
}

/// What a program promises to whoever waits, besides exclusion and freedom from deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// Somebody enters, but one may wait for ever.
    CanStarve,
    /// Everybody enters in the end, but others may go first any number of times.
    NobodyStarves,
    /// Everybody enters, and each of the others at most this often before it.
    Bounded(u32),
    /// Whoever is past its doorway first enters first.
    Fifo,
}

impl fmt::Display for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fairness::CanStarve => f.write_str("may starve"),
            Fairness::NobodyStarves => f.write_str("never starves"),
            Fairness::Bounded(r) => write!(f, "at most {r} times"),
            Fairness::Fifo => f.write_str("in order"),
        }
    }
}

/// A register by its name and what it can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What the textbook calls it: `number[2]`.
    pub name: String,
    /// What it can hold.
    pub values: Values,
}

impl Cell {
    /// A register.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), values }
    }

    /// One register for each of `n` processes, named after their numbers from 1.
    pub fn for_each(name: &str, n: usize, values: Values) -> impl Iterator<Item = Cell> {
        (1..=n).map(move |process| Cell::new(format!("{name}[{process}]"), values))
    }
}

/// What a register can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Values {
    /// The numbers from 0 up to this one.
    UpTo(u64),
    /// Any number: a checker has to set a limit.
    Unbounded,
}

/// The processes of one system, and the registers that they share.
pub struct Team<P> {
    n: usize,
    /// The registers in the order of their numbers.
    pub registers: Vec<Cell>,
    make: Box<MakeProgram<P>>,
}

type MakeProgram<P> = dyn Fn(NodeId) -> P + Send + Sync;

impl<P: Program> Team<P> {
    /// The team of these members, from its registers and the function that makes a program.
    pub fn new(
        members: &Members,
        registers: Vec<Cell>,
        make: impl Fn(NodeId) -> P + Send + Sync + 'static,
    ) -> Self {
        Self { n: members.n(), registers, make: Box::new(make) }
    }

    /// How many processes there are.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// One process in the remainder.
    #[must_use]
    pub fn process(&self, me: NodeId) -> Process<P> {
        Process::new((self.make)(me))
    }
}

/// A program as it is listed: what is told about it, and how choices become a team.
pub struct ProgramEntry<P> {
    /// What people are told.
    pub about: AboutProgram,
    /// Makes the team of these members for what was chosen.
    pub bind: fn(&Options, &Members) -> Result<Team<P>, Refusal>,
}

impl<P> ProgramEntry<P> {
    /// The team of these members for what was chosen.
    ///
    /// # Errors
    /// If the program does not offer such a choice, does not understand the word for it, or is not for so many.
    pub fn team(&self, options: &Options, members: &Members) -> Result<Team<P>, Refusal> {
        options.check(self.about.name, self.about.parameters)?;
        (self.bind)(options, members)
    }
}
