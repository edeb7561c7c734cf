//! The texts of files that words name. They come with the words: nothing is ever read from a disk for a page.

use std::collections::BTreeMap;

use doorway_catalog::examples;
use doorway_core::{Choice, Options, Refusal};
use serde::{Deserialize, Serialize};

use super::RawValue;

/// Texts by the names of their files.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Files(BTreeMap<String, String>);

impl Files {
    /// The text of a file: one that came along, or one that ships.
    ///
    /// # Errors
    /// If it is neither.
    pub fn text(&self, name: &str) -> Result<&str, Refusal> {
        let sent = self.0.get(name).map(String::as_str);
        sent.map_or_else(|| examples::file(name), Ok)
    }

    /// What was chosen, with the text of the file if it names one by `file:NAME` or `example:NAME`.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn choice(&self, word: &str) -> Result<Choice, Refusal> {
        let file = match (word.strip_prefix(examples::PREFIX), word.strip_prefix("file:")) {
            (Some(name), _) => Some(examples::file(name)?),
            (None, Some(name)) => Some(self.text(name)?),
            (None, None) => None,
        };
        Ok(Choice { word: word.to_owned(), file: file.map(str::to_owned) })
    }

    /// All that was chosen.
    ///
    /// # Errors
    /// If a file is missing.
    pub fn options(&self, words: &BTreeMap<String, RawValue>) -> Result<Options, Refusal> {
        let mut options = Options::none();
        for (name, RawValue(word)) in words {
            options.set(name, self.choice(word)?);
        }
        Ok(options)
    }
}
