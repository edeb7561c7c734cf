//! What was given for a setting, and specs as JSON.

use std::fmt;
use std::marker::PhantomData;

use doorway_core::Refusal;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};

use super::{RawValue, Readable, SettingKind, Spec, filled};

/// The words that were typed for a setting whose values are of type `T`.
#[derive(Clone, Debug)]
pub struct Given<T> {
    name: &'static str,
    words: Vec<RawValue>,
    of: PhantomData<T>,
}

impl<T> Given<T> {
    /// Nothing yet, for the setting of this name.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, words: Vec::new(), of: PhantomData }
    }

    /// What was typed.
    #[must_use]
    pub fn words(&self) -> &[RawValue] {
        &self.words
    }

    /// Types it anew.
    pub fn set(&mut self, words: Vec<RawValue>) {
        self.words = words;
    }

    /// Whether nothing was typed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

impl<T: Readable> Given<T> {
    /// The value, if one was given.
    ///
    /// # Errors
    /// With the setting's name and what would be right.
    pub fn one(&self) -> Result<Option<T>, Refusal> {
        self.words.last().map(|word| word.read(self.name)).transpose()
    }

    /// The value, or the usual one.
    ///
    /// # Errors
    /// With the setting's name and what would be right.
    pub fn one_or(&self, usual: T) -> Result<T, Refusal> {
        Ok(self.one()?.unwrap_or(usual))
    }

    /// All values in the order in which they were given.
    ///
    /// # Errors
    /// With the setting's name and what would be right.
    pub fn all(&self) -> Result<Vec<T>, Refusal> {
        self.words.iter().map(|word| word.read(self.name)).collect()
    }

    /// Gives these values.
    pub fn put(&mut self, values: impl IntoIterator<Item = T>) {
        self.words = values.into_iter().map(|value| RawValue(value.word())).collect();
    }
}

/// Reads a spec from JSON: a value, or a list of values, under the name of each setting. Null is as good as nothing.
///
/// # Errors
/// If a name is unknown, or a setting of one value has a list.
pub fn deserialize<'de, S: Spec, D: Deserializer<'de>>(deserializer: D) -> Result<S, D::Error> {
    deserializer.deserialize_map(Reader(PhantomData))
}

struct Reader<S>(PhantomData<S>);

impl<'de, S: Spec> Visitor<'de> for Reader<S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a value for each setting")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<S, A::Error> {
        let mut spec = S::default();
        while let Some(name) = map.next_key::<String>()? {
            let Some(definition) = S::definition(&name) else {
                return Err(de::Error::custom(format_args!("unknown field `{name}`")));
            };
            let words = match map.next_value::<Words>()? {
                Words::None => Vec::new(),
                Words::One(word) => vec![word],
                Words::List(words)
                    if matches!(definition.kind, SettingKind::Repeated | SettingKind::Commas) =>
                {
                    words
                }
                Words::List(_) => {
                    return Err(de::Error::custom(format_args!("`{name}` has one value, not a list")));
                }
            };
            spec.set(&name, words);
        }
        Ok(spec)
    }
}

/// What a page sends for a setting.
enum Words {
    None,
    One(RawValue),
    List(Vec<RawValue>),
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsReader)
    }
}

struct WordsReader;

impl<'de> Visitor<'de> for WordsReader {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word, a number or a list of them")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Words, E> {
        Ok(Words::None)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Words, E> {
        Ok(Words::One(text.into()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Words, E> {
        Ok(Words::One(RawValue(number.to_string())))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Words, E> {
        Ok(Words::One(RawValue(number.to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Words, E> {
        Ok(Words::One(RawValue(number.to_string())))
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Words, E> {
        Ok(Words::One(RawValue(yes.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = list.next_element()? {
            words.push(word);
        }
        Ok(Words::List(words))
    }
}

/// Writes what was given; the rest is left out.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Spec, W: Serializer>(spec: &S, serializer: W) -> Result<W::Ok, W::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, value) in filled(spec) {
        if !spec.words(&name).is_empty() {
            map.serialize_entry(&name, &value)?;
        }
    }
    map.end()
}
