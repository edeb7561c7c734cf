//! The names of sections.

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

    /// A name of 1 to 255 bytes without control characters.
    ///
    /// # Errors
    /// If it is empty, too long, or has a character that is not [plain](is_plain).
    pub fn new(name: &str) -> Result<Self, Refusal> {
        match name.len() {
            0 => Err(Refusal::new("a section needs a name of at least one letter")),
            length if length > Self::LONGEST => Err(Refusal::new(format!(
                "a section's name has at most {} bytes, not {length}",
                Self::LONGEST
            ))),
            _ => match name.chars().find(|character| !is_plain(*character)) {
                Some(character) => Err(Refusal::new(format!(
                    "a section's name has no character that cannot be shown, such as {character:?}"
                ))),
                None => Ok(Self(name.into())),
            },
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a character is safe to print: no control character, no line separator, no change of text
/// direction.
#[must_use]
pub fn is_plain(character: char) -> bool {
    let changes_direction =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let separates_lines = matches!(character, '\u{2028}' | '\u{2029}');
    !character.is_control() && !changes_direction && !separates_lines
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

    #[test]
    fn a_name_has_only_plain_characters() {
        assert!(SectionName::new("Türen & Tore/東 #7").is_ok());
        for name in ["two\nlines", "a\u{1b}[2Jb", "a\u{202e}b", "a\u{2028}b", "a\0b", "a\u{85}b"] {
            let refused = SectionName::new(name).expect_err("a bad name").to_string();
            assert!(refused.starts_with("a section's name has no character"), "{refused}");
            assert!(refused.chars().all(is_plain), "{refused:?}");
        }
    }
}
