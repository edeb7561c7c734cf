//! The list of algorithms, from which command line, documents, tests and studio are derived.
//!
//! A catalog is a value that anybody can extend: `catalog.with(my_algorithm::entry())`. It keeps the type of every
//! algorithm, so that a driver which is given only a name still runs monomorphic code.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::shared::{AboutProgram, Program, ProgramEntry, ProgramVisitor};
use crate::{Explain, Factory, Hints, Members, Refusal};

/// What people are told about an algorithm.
#[derive(Clone, Debug)]
pub struct About {
    /// What one types: `ricart-agrawala`; a specimen is `maekawa/basic`.
    pub name: &'static str,
    /// What the literature calls it.
    pub title: &'static str,
    /// How it excludes.
    pub family: Family,
    /// The weakest order of channels under which it is right.
    pub needs: Channels,
    /// Messages per entry, as a formula.
    pub messages: &'static str,
    /// The same as numbers: the least and the most that an entry costs in a system of this size.
    pub cost: fn(Scale) -> [f64; 2],
    /// Synchronisation delay, as a formula; T is the delay of one message.
    pub delay: &'static str,
    /// What can be chosen.
    pub parameters: &'static [Parameter],
    /// The source of its file, whose header is its page in the textbook: `include_str!("name.rs")`.
    pub source: &'static str,
    /// What is wrong with it, if it is kept because it is wrong.
    pub specimen: Option<Specimen>,
}

impl About {
    /// The page of the textbook: the header of the algorithm's file.
    #[must_use]
    pub fn page(&self) -> String {
        page(self.source)
    }

    /// What it lets one choose under this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// The header of a source file as text.
pub(crate) fn page(source: &str) -> String {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    header.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// How large a system is, for formulas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// How many nodes there are: N.
    pub n: f64,
    /// How many nodes a quorum has, at least and at most: K. It is N where there are no quorums.
    pub k: [f64; 2],
}

/// How an algorithm excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// One node decides for all.
    Central,
    /// A node enters when enough others permit it.
    Permission,
    /// A node enters when it has the token.
    Token,
}

impl Family {
    /// Its name in lists.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Family::Central => "central",
            Family::Permission => "permission",
            Family::Token => "token",
        }
    }
}

/// In what order a channel delivers. Each order promises all that the ones before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    /// Any order.
    Any,
    /// Between two nodes in the order of sending.
    Fifo,
    /// At each node in an order that agrees with causality.
    Causal,
}

impl Channels {
    /// All of them, weakest first.
    pub const ALL: [Channels; 3] = [Channels::Any, Channels::Fifo, Channels::Causal];

    /// What one types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Channels::Any => "any",
            Channels::Fifo => "fifo",
            Channels::Causal => "causal",
        }
    }
}

impl FromStr for Channels {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let found = Channels::ALL.into_iter().find(|channels| channels.name() == word);
        found
            .ok_or_else(|| Refusal::new(format!("{word:?} is not an order of channels: fifo, any or causal")))
    }
}

/// Something that can be chosen for an algorithm: `--quorum grid`.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What is taken when nothing is said.
    pub default: &'static str,
    /// What can be said, in one sentence.
    pub help: &'static str,
}

/// Why a wrong algorithm is kept.
#[derive(Clone, Copy, Debug)]
pub struct Specimen {
    /// Its number in the list of claims: `E3`.
    pub id: &'static str,
    /// The correct algorithm that it spoils.
    pub of: &'static str,
    /// What is wrong with it, in one sentence.
    pub wrong: &'static str,
    /// What comes of it: `deadlock`.
    pub verdict: &'static str,
}

/// What was chosen, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, Choice>);

/// One choice: a word, and the content of the file it names if it names one. Whoever reads files has read it; an
/// algorithm never does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What was typed.
    pub word: String,
    /// The text of the file that it names.
    pub file: Option<String>,
}

impl Options {
    /// Nothing chosen: every parameter has its default.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The same with one choice more.
    #[must_use]
    pub fn with(mut self, name: &str, word: &str) -> Self {
        self.set(name, Choice { word: word.to_owned(), file: None });
        self
    }

    /// The same with the text of a file as choice.
    #[must_use]
    pub fn with_file(mut self, name: &str, text: &str) -> Self {
        self.set(name, Choice { word: "file".to_owned(), file: Some(text.to_owned()) });
        self
    }

    /// Makes a choice.
    pub fn set(&mut self, name: &str, choice: Choice) {
        self.0.insert(name.to_owned(), choice);
    }

    /// What was chosen under this name, or the parameter's default.
    #[must_use]
    pub fn choice(&self, parameter: &Parameter) -> Choice {
        let default = || Choice { word: parameter.default.to_owned(), file: None };
        self.0.get(parameter.name).cloned().unwrap_or_else(default)
    }

    /// Each choice with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Choice)> {
        self.0.iter().map(|(name, choice)| (name.as_str(), choice))
    }

    fn check(&self, name: &str, parameters: &[Parameter]) -> Result<(), Refusal> {
        let is_known = |chosen: &str| parameters.iter().any(|parameter| parameter.name == chosen);
        let Some(unknown) = self.0.keys().find(|chosen| !is_known(chosen)) else { return Ok(()) };
        let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
        let only = if known.is_empty() { String::new() } else { format!(", only {}", known.join(", ")) };
        Err(Refusal::new(format!("{name} has no {unknown} to choose{only}")))
    }
}

/// An algorithm in the catalog: what is told about it, and how choices become a factory.
pub struct Entry<A> {
    /// What people are told.
    pub about: About,
    /// Makes the factory for what was chosen.
    pub bind: fn(&Options) -> Result<Factory<A>, Refusal>,
}

/// Something to do with an algorithm that is known only by its name: the one place where a name becomes a type.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<A: Explain + Hints>(self, about: &About, factory: Factory<A>) -> Self::Output;
}

/// A list of algorithms.
pub trait Catalog: Sized {
    /// What is told about each algorithm, in the order of the list.
    fn list(&self) -> Vec<&About>;

    /// Does something with the algorithm of this name; `None` if there is none.
    fn visit<V: Visitor>(
        &self,
        name: &str,
        options: &Options,
        visitor: V,
    ) -> Option<Result<V::Output, Refusal>>;

    /// What is told about the algorithm of this name.
    fn about(&self, name: &str) -> Option<&About> {
        self.list().into_iter().find(|about| about.name == name)
    }

    /// What is told about each program over shared memory, in the order of the list.
    fn programs(&self) -> Vec<&AboutProgram> {
        Vec::new()
    }

    /// Does something with the program of this name among these members; `None` if there is none.
    fn visit_program<V: ProgramVisitor>(
        &self,
        _name: &str,
        _options: &Options,
        _members: &Members,
        _visitor: V,
    ) -> Option<Result<V::Output, Refusal>> {
        None
    }

    /// What is told about the program of this name.
    fn program(&self, name: &str) -> Option<&AboutProgram> {
        self.programs().into_iter().find(|about| about.name == name)
    }

    /// The same list with one program more.
    fn with_program<P: Program>(self, entry: ProgramEntry<P>) -> WithProgram<Self, P> {
        WithProgram { rest: self, entry }
    }

    /// The same list with one algorithm more.
    fn with<A: Explain + Hints>(self, entry: Entry<A>) -> With<Self, A> {
        With { rest: self, entry }
    }
}

/// The catalog without any algorithm.
pub struct Empty;

/// A catalog with one algorithm more than `C`.
pub struct With<C, A> {
    rest: C,
    entry: Entry<A>,
}

/// A catalog with one program more than `C`.
pub struct WithProgram<C, P> {
    rest: C,
    entry: ProgramEntry<P>,
}

impl Catalog for Empty {
    fn list(&self) -> Vec<&About> {
        Vec::new()
    }

    fn visit<V: Visitor>(&self, _: &str, _: &Options, _: V) -> Option<Result<V::Output, Refusal>> {
        None
    }
}

impl<C: Catalog, A: Explain + Hints> Catalog for With<C, A> {
    fn list(&self) -> Vec<&About> {
        let mut list = self.rest.list();
        list.push(&self.entry.about);
        list
    }

    fn visit<V: Visitor>(
        &self,
        name: &str,
        options: &Options,
        visitor: V,
    ) -> Option<Result<V::Output, Refusal>> {
        let Entry { about, bind } = &self.entry;
        if name != about.name {
            return self.rest.visit(name, options, visitor);
        }
        let factory = options.check(about.name, about.parameters).and_then(|()| bind(options));
        Some(factory.map(|factory| visitor.visit(about, factory)))
    }

    fn programs(&self) -> Vec<&AboutProgram> {
        self.rest.programs()
    }

    fn visit_program<V: ProgramVisitor>(
        &self,
        name: &str,
        options: &Options,
        members: &Members,
        visitor: V,
    ) -> Option<Result<V::Output, Refusal>> {
        self.rest.visit_program(name, options, members, visitor)
    }
}

impl<C: Catalog, P: Program> Catalog for WithProgram<C, P> {
    fn list(&self) -> Vec<&About> {
        self.rest.list()
    }

    fn visit<V: Visitor>(
        &self,
        name: &str,
        options: &Options,
        visitor: V,
    ) -> Option<Result<V::Output, Refusal>> {
        self.rest.visit(name, options, visitor)
    }

    fn programs(&self) -> Vec<&AboutProgram> {
        let mut list = self.rest.programs();
        list.push(&self.entry.about);
        list
    }

    fn visit_program<V: ProgramVisitor>(
        &self,
        name: &str,
        options: &Options,
        members: &Members,
        visitor: V,
    ) -> Option<Result<V::Output, Refusal>> {
        let ProgramEntry { about, bind } = &self.entry;
        if name != about.name {
            return self.rest.visit_program(name, options, members, visitor);
        }
        let team = options.check(about.name, about.parameters).and_then(|()| bind(options, members));
        Some(team.map(|team| visitor.visit(about, team)))
    }
}
