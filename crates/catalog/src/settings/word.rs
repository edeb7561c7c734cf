//! Words as people type them and as pages send them: texts, or numbers where a number is meant.

use std::fmt;

use doorway_core::Refusal;
use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::Readable;

/// What was typed, whether it came as a text, a number or a boolean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawValue(pub String);

impl RawValue {
    /// Its value; `name` is blamed if it cannot be read.
    ///
    /// # Errors
    /// With the name and what would be right.
    pub fn read<T: Readable>(&self, name: &str) -> Result<T, Refusal> {
        T::read(&self.0).map_err(|refusal| Refusal::new(format!("{name}: {refusal}")))
    }
}

impl From<&str> for RawValue {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word or a number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RawValue, E> {
        Ok(RawValue(text.to_owned()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<RawValue, E> {
        Ok(RawValue(number.to_string()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<RawValue, E> {
        Ok(RawValue(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<RawValue, E> {
        Ok(RawValue(number.to_string()))
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<RawValue, E> {
        Ok(RawValue(yes.to_string()))
    }
}
