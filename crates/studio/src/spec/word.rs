//! Words as pages send them: texts, or numbers where a number is meant.

use std::fmt;
use std::str::FromStr;

use doorway_core::Refusal;
use serde::de::{self, Deserialize, Deserializer, Visitor};

/// What somebody typed, whether it came as a text, a number or a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(pub String);

impl Word {
    /// What it says; `name` is to blame if it cannot be understood.
    ///
    /// # Errors
    /// With the name and what would be right.
    pub fn parsed<T: FromStr<Err = Refusal>>(&self, name: &str) -> Result<T, Refusal> {
        self.0.parse().map_err(|refusal| Refusal::new(format!("{name}: {refusal}")))
    }

    /// The whole number that it is.
    ///
    /// # Errors
    /// If it is none.
    pub fn whole(&self, name: &str) -> Result<u64, Refusal> {
        let cut: String = self.0.chars().take(40).collect();
        self.0.trim().parse().map_err(|_| Refusal::new(format!("{name}: {cut:?} is not a whole number")))
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word or a number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Word, E> {
        Ok(Word(text.to_owned()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Word, E> {
        Ok(Word(number.to_string()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Word, E> {
        Ok(Word(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Word, E> {
        Ok(Word(number.to_string()))
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Word, E> {
        Ok(Word(yes.to_string()))
    }
}
