//! Words as people type them and as pages send them: texts, or numbers where a number is meant.

use std::fmt;

use doorway_core::Refusal;
use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::Readable;

/// What was typed, whether it came as a text, a number or a boolean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word(pub String);

impl Word {
    /// Its value; `name` is blamed if it cannot be read.
    ///
    /// # Errors
    /// With the name and what would be right.
    pub fn read<T: Readable>(&self, name: &str) -> Result<T, Refusal> {
        T::read(&self.0).map_err(|refusal| Refusal::new(format!("{name}: {refusal}")))
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
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
