//! The formats in which rows can be had.

use std::str::FromStr;

use doorway_core::Refusal;

use super::rows::Lines;

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header.
    #[default]
    Csv,
    /// A JSON object on each line.
    JsonLines,
    /// Parquet, if Doorway was built with it.
    Parquet,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 3] = [Format::Csv, Format::JsonLines, Format::Parquet];

    /// What one types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::JsonLines => "jsonl",
            Format::Parquet => "parquet",
        }
    }

    /// The file with the rows.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Format::Csv => "runs.csv",
            Format::JsonLines => "runs.jsonl",
            Format::Parquet => "runs.parquet",
        }
    }

    /// The file to which rows are appended while the sweep runs. Nothing can be appended to Parquet, which is made of JSON
    /// lines when all of them are there.
    pub(super) fn working_file(self) -> &'static str {
        match self {
            Format::Csv | Format::JsonLines => self.file(),
            Format::Parquet => "runs-so-far.jsonl",
        }
    }

    /// The lines of that file.
    pub(super) fn lines(self) -> Lines {
        match self {
            Format::Csv => Lines::Csv,
            Format::JsonLines | Format::Parquet => Lines::Json,
        }
    }

    /// # Errors
    /// If this program was built without it.
    pub fn check(self) -> Result<(), Refusal> {
        match self {
            Format::Parquet if !cfg!(feature = "parquet") => Err(Refusal::new(
                "this program was built without Parquet: build it with `cargo build --release --features parquet`, or take \
                 csv or jsonl",
            )),
            Format::Csv | Format::JsonLines | Format::Parquet => Ok(()),
        }
    }

    /// The format of a file with this name.
    pub(super) fn of_file(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.file() == name)
    }
}

impl FromStr for Format {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|format| format.name() == word);
        found.ok_or_else(|| Refusal::new(format!("{word:?} is not a format: csv, jsonl or parquet")))
    }
}
