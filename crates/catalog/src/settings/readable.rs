//! Values that people type.

use std::str::FromStr;

use doorway_checker::{Barriers, MemoryModel, RegisterModel, SchedulerFairness, Setting};
use doorway_core::{Channels, NodeId, Refusal};
use doorway_simulator::{Crash, Intervention, Latency, Load, Partition, Probability, Span};

/// A value that can be read from a word and written as one.
pub trait Readable: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// With what would be right.
    fn read(word: &str) -> Result<Self, Refusal>;

    /// Writes it in its normal form.
    fn word(&self) -> String;

    /// Reads a word and gives it back in its normal form.
    ///
    /// # Errors
    /// With what would be right.
    fn normal(word: &str) -> Result<String, Refusal> {
        Self::read(word).map(|value| value.word())
    }
}

/// A whole number.
///
/// # Errors
/// If the word is none, or too large for its type.
pub fn whole<T: FromStr>(word: &str) -> Result<T, Refusal> {
    let word = word.trim();
    let all_digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let cut: String = word.chars().take(40).collect();
    word.parse().map_err(|_| match all_digits {
        true => Refusal::new(format!("{cut} is too large a number")),
        false => Refusal::new(format!("{cut:?} is not a whole number, such as 5")),
    })
}

macro_rules! whole_numbers {
    ($($Type:ty),*) => {$(
        impl Readable for $Type {
            fn read(word: &str) -> Result<Self, Refusal> {
                whole(word)
            }

            fn word(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

macro_rules! parsed {
    ($($Type:ty),*) => {$(
        impl Readable for $Type {
            fn read(word: &str) -> Result<Self, Refusal> {
                word.parse()
            }

            fn word(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

whole_numbers!(u8, u32, u64, usize);
parsed!(Load, Span, Probability, Crash, Partition, Intervention, RegisterModel, MemoryModel, Barriers);

impl Readable for Channels {
    fn read(word: &str) -> Result<Self, Refusal> {
        word.parse()
    }

    fn word(&self) -> String {
        self.name().to_owned()
    }
}

impl Readable for String {
    fn read(word: &str) -> Result<Self, Refusal> {
        Ok(word.to_owned())
    }

    fn word(&self) -> String {
        self.clone()
    }
}

impl Readable for bool {
    fn read(word: &str) -> Result<Self, Refusal> {
        match word {
            "on" | "true" | "yes" | "1" | "" => Ok(true),
            "off" | "false" | "no" | "0" => Ok(false),
            _ => Err(Refusal::new(format!("{word:?} is neither on nor off"))),
        }
    }

    fn word(&self) -> String {
        if *self { "on" } else { "off" }.to_owned()
    }
}

impl Readable for NodeId {
    fn read(word: &str) -> Result<Self, Refusal> {
        let node = word.trim().parse().ok().and_then(NodeId::from_number);
        node.ok_or_else(|| Refusal::new(format!("{word:?} is not the number of a node: nodes count from 1")))
    }

    fn word(&self) -> String {
        self.to_string()
    }
}

impl Readable for SchedulerFairness {
    fn read(word: &str) -> Result<Self, Refusal> {
        let found = SchedulerFairness::ALL.into_iter().find(|fairness| fairness.name() == word);
        found.ok_or_else(|| Refusal::new(format!("{word:?} is not a fairness: it is none, weak or strong")))
    }

    fn word(&self) -> String {
        self.name().to_owned()
    }
}

/// A message latency: one that can be read from its word, or `matrix:FILE`, which the reader of files completes.
#[derive(Clone, Debug)]
pub enum Delay {
    /// One that needs no file.
    Plain(Latency),
    /// The name of the file with the matrix.
    Matrix(String),
}

impl Readable for Delay {
    fn read(word: &str) -> Result<Self, Refusal> {
        match word.strip_prefix("matrix:") {
            Some("") => {
                Err(Refusal::new("matrix: needs the name of a file behind it, as in matrix:mine.latencies"))
            }
            Some(file) => Ok(Delay::Matrix(file.to_owned())),
            None => Ok(Delay::Plain(word.parse()?)),
        }
    }

    fn word(&self) -> String {
        match self {
            Delay::Plain(latency) => latency.to_string(),
            Delay::Matrix(file) => format!("matrix:{file}"),
        }
    }
}

/// How often a node asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requests(pub u32);

impl Readable for Requests {
    fn read(word: &str) -> Result<Self, Refusal> {
        const MOST: u32 = 1_000;
        match word.trim().parse::<u32>() {
            Ok(number) if number <= MOST => Ok(Self(number)),
            Err(_) if word == "unbounded" => Ok(Self(Setting::UNBOUNDED)),
            _ => Err(Refusal::new(format!(
                "{word:?} is not how often a node asks: a number from 0 to {MOST}, or unbounded"
            ))),
        }
    }

    fn word(&self) -> String {
        if self.0 == Setting::UNBOUNDED { "unbounded".to_owned() } else { self.0.to_string() }
    }
}
