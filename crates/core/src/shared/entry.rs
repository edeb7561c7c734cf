//! How programs are listed, and how the processes of a system are made.

use std::fmt;

use serde::Serialize;

use super::{Process, Program};
use crate::entry::page;
use crate::{Members, NodeId, Options, Parameter, Refusal, Specimen};

/// The description of a program.
#[derive(Clone, Debug)]
pub struct AboutProgram {
    /// Its name on the command line: `bakery`; a variant is `bakery/one-word`.
    pub name: &'static str,
    /// Its name in the literature.
    pub title: &'static str,
    /// Its fairness guarantee.
    pub promise: Fairness,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The options that change the guarantee, each a name and a value: tables have a row for each.
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

/// The guarantee for waiting processes, besides mutual exclusion and freedom from deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// Some process enters, but a given one may wait for ever.
    CanStarve,
    /// Every waiting process enters eventually, but may be bypassed any number of times.
    NobodyStarves,
    /// Every waiting process enters, and each other one bypasses it at most this often.
    Bounded(u32),
    /// Processes enter in the order in which they pass the doorway.
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

/// A register's name and range of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its name in the textbook: `number[2]`.
    pub name: String,
    /// Its range of values.
    pub values: Values,
}

impl Cell {
    /// A register.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), values }
    }

    /// One register for each of `n` processes, numbered from 1.
    pub fn for_each(name: &str, n: usize, values: Values) -> impl Iterator<Item = Cell> {
        (1..=n).map(move |process| Cell::new(format!("{name}[{process}]"), values))
    }
}

/// The range of values of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Values {
    /// The numbers from 0 up to this one.
    UpTo(u64),
    /// Any number: a checker has to set a limit.
    Unbounded,
}

/// The processes of one system and the registers that they share.
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

    /// The number of processes.
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

/// A list entry: a program's description, and how options become a team.
pub struct ProgramEntry<P> {
    /// The description.
    pub about: AboutProgram,
    /// Makes the team of these members for these options.
    pub bind: fn(&Options, &Members) -> Result<Team<P>, Refusal>,
}

impl<P> ProgramEntry<P> {
    /// The team of these members for these options.
    ///
    /// # Errors
    /// If the program has no such parameter, rejects the value, or does not support this number of processes.
    pub fn team(&self, options: &Options, members: &Members) -> Result<Team<P>, Refusal> {
        options.check(self.about.name, self.about.parameters)?;
        (self.bind)(options, members)
    }
}
