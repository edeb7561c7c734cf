//! What sections are called.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::Refusal;

/// The name of a section. Copies share one text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SectionName(Arc<str>);

impl SectionName {
    /// The longest name, in bytes.
    pub const LONGEST: usize = 255;

    /// A name of 1 to 255 bytes.
    ///
    /// # Errors
    /// If it is empty or longer.
    pub fn new(name: &str) -> Result<Self, Refusal> {
        match name.len() {
            0 => Err(Refusal::new("a section needs a name of at least one letter")),
            length if length > Self::LONGEST => Err(Refusal::new(format!(
                "a section's name has at most {} bytes, not {length}",
                Self::LONGEST
            ))),
            _ => Ok(Self(name.into())),
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for SectionName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SectionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_to_255_bytes() {
        assert_eq!(SectionName::new("acct-1").expect("a good name").to_string(), "acct-1");
        assert!(SectionName::new(&"x".repeat(255)).is_ok());
        let refused = |name: &str| SectionName::new(name).expect_err("a bad name").to_string();
        assert_eq!(refused(""), "a section needs a name of at least one letter");
        assert_eq!(refused(&"x".repeat(256)), "a section's name has at most 255 bytes, not 256");
    }
}
