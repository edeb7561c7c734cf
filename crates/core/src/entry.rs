//! How an algorithm is listed: its description, its parameters, and how chosen options become a factory.
//!
//! A list of algorithms is a function that hands every [`Entry`] to a [`Registrar`]. The registrar sees the
//! type of each algorithm and keeps what it needs. So the list knows no driver, and no driver knows the list.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::shared::{Program, ProgramEntry};
use crate::{Explain, Factory, Hints, Refusal};

/// The description of an algorithm.
#[derive(Clone, Debug)]
pub struct About {
    /// Its name on the command line: `ricart-agrawala`; a specimen is `maekawa/basic`.
    pub name: &'static str,
    /// Its name in the literature.
    pub title: &'static str,
    /// How it excludes.
    pub family: Family,
    /// The weakest channel order under which it is correct.
    pub needs: Channels,
    /// Messages per entry.
    pub messages: Cost,
    /// Synchronisation delay, as a formula; T is the delay of one message.
    pub delay: &'static str,
    /// Its parameters.
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

    /// The parameter of this name.
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

/// What an entry costs: the formula that people read, and the numbers that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The formula, as the literature writes it.
    pub formula: &'static str,
    /// The fewest and the most messages per entry in a system of this size.
    pub bounds: fn(Scale) -> [f64; 2],
}

/// The size of a system, for formulas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The number of nodes: N.
    pub n: f64,
    /// The smallest and the largest quorum size: K. It is N where there are no quorums.
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

/// The delivery order of the channels. Each order implies the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    /// Any order.
    Any,
    /// In the order of sending, between any two nodes.
    Fifo,
    /// In causal order at each node.
    Causal,
}

impl Channels {
    /// All of them, weakest first.
    pub const ALL: [Channels; 3] = [Channels::Any, Channels::Fifo, Channels::Causal];

    /// Its name on the command line.
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

/// A parameter of an algorithm: `--quorum grid`.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its default value.
    pub default: &'static str,
    /// The possible values, in one sentence.
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
    /// The result: `deadlock`.
    pub verdict: &'static str,
}

/// The chosen options, by parameter name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, Choice>);

/// One option: a word, and the content of the file if it names one. The caller has read the file; an
/// algorithm never does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word as typed.
    pub word: String,
    /// The content of the file that it names.
    pub file: Option<String>,
}

impl Options {
    /// No options: every parameter has its default.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The same with one more option.
    #[must_use]
    pub fn with(mut self, name: &str, word: &str) -> Self {
        self.set(name, Choice { word: word.to_owned(), file: None });
        self
    }

    /// The same with the content of a file as an option.
    #[must_use]
    pub fn with_file(mut self, name: &str, text: &str) -> Self {
        self.set(name, Choice { word: "file".to_owned(), file: Some(text.to_owned()) });
        self
    }

    /// Sets an option.
    pub fn set(&mut self, name: &str, choice: Choice) {
        self.0.insert(name.to_owned(), choice);
    }

    /// The option for this parameter, or its default.
    #[must_use]
    pub fn choice(&self, parameter: &Parameter) -> Choice {
        let default = || Choice { word: parameter.default.to_owned(), file: None };
        self.0.get(parameter.name).cloned().unwrap_or_else(default)
    }

    /// Each option with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Choice)> {
        self.0.iter().map(|(name, choice)| (name.as_str(), choice))
    }

    /// Refuses an option that the algorithm `name` does not have.
    pub(crate) fn check(&self, name: &str, parameters: &[Parameter]) -> Result<(), Refusal> {
        let is_known = |chosen: &str| parameters.iter().any(|parameter| parameter.name == chosen);
        let Some(unknown) = self.0.keys().find(|chosen| !is_known(chosen)) else { return Ok(()) };
        let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
        let only = if known.is_empty() { String::new() } else { format!(", only {}", known.join(", ")) };
        Err(Refusal::new(format!("{name} has no {unknown} to choose{only}")))
    }
}

/// A list entry: an algorithm's description, and how options become a factory.
pub struct Entry<A> {
    /// The description.
    pub about: About,
    /// Makes the factory for these options.
    pub bind: fn(&Options) -> Result<Factory<A>, Refusal>,
}

impl<A> Entry<A> {
    /// The factory for these options.
    ///
    /// # Errors
    /// If the algorithm has no such parameter, or rejects the value.
    pub fn factory(&self, options: &Options) -> Result<Factory<A>, Refusal> {
        options.check(self.about.name, self.about.parameters)?;
        (self.bind)(options)
    }
}

/// Receives the entries of a list of algorithms, each with its type.
///
/// ```
/// # use doorway_core::{Entry, Explain, Hints, Registrar, shared::{Program, ProgramEntry}};
/// /// Keeps the names only.
/// #[derive(Default)]
/// struct Names(Vec<&'static str>);
///
/// impl Registrar for Names {
///     fn algorithm<A: Explain + Hints>(&mut self, entry: Entry<A>) {
///         self.0.push(entry.about.name);
///     }
///     fn program<P: Program>(&mut self, entry: ProgramEntry<P>) {
///         self.0.push(entry.about.name);
///     }
/// }
/// ```
pub trait Registrar {
    /// Receives a message-passing algorithm.
    fn algorithm<A: Explain + Hints>(&mut self, entry: Entry<A>);

    /// Receives a shared-memory program.
    fn program<P: Program>(&mut self, entry: ProgramEntry<P>);
}
