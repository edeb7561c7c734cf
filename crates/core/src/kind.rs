//! The kind of a message: the name of its variant, read through serde, so that no algorithm has to repeat it.

use std::fmt;

use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{Error, Serialize};

use crate::parts::{Listener, walk};

/// The kind of a message, as the literature writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// Its place among the variants.
    pub index: u32,
    /// Its name.
    pub name: &'static str,
}

/// The kind of `msg`: the variant if it is an enum, the type's name if it is a struct, else `MESSAGE`.
///
/// ```
/// #[derive(serde::Serialize)]
/// #[serde(rename_all = "UPPERCASE")]
/// enum Msg { Request { counter: u64 }, Reply }
///
/// assert_eq!(doorway_core::kind(&Msg::Request { counter: 3 }).name, "REQUEST");
/// assert_eq!(doorway_core::kind(&Msg::Reply).index, 1);
/// ```
#[inline]
pub fn kind<M: Serialize>(msg: &M) -> Kind {
    match walk(msg, &mut Reader) {
        Ok(()) => UNNAMED,
        Err(Found(kind)) => kind,
    }
}

/// The names of all kinds of a message type, in the order of its variants; a single name if it is not an
/// enum.
///
/// ```
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "UPPERCASE")]
/// enum Msg { Request { counter: u64 }, Reply }
///
/// assert_eq!(doorway_core::kinds::<Msg>(), ["REQUEST", "REPLY"]);
/// ```
#[must_use]
pub fn kinds<M: DeserializeOwned>() -> Vec<&'static str> {
    M::deserialize(Names).err().map_or_else(|| vec![UNNAMED.name], |found| found.0)
}

/// A deserializer without data: it only learns the names of the variants.
struct Names;

/// The early exit of the walk: not an error, but the result.
#[derive(Debug)]
struct FoundNames(Vec<&'static str>);

impl fmt::Display for FoundNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for FoundNames {}

impl de::Error for FoundNames {
    fn custom<T: fmt::Display>(_: T) -> Self {
        FoundNames(vec![UNNAMED.name])
    }
}

impl<'de> Deserializer<'de> for Names {
    type Error = FoundNames;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, FoundNames> {
        Err(FoundNames(vec![UNNAMED.name]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, FoundNames> {
        Err(FoundNames(variants.to_vec()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, FoundNames> {
        Err(FoundNames(vec![name]))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: V,
    ) -> Result<V::Value, FoundNames> {
        Err(FoundNames(vec![name]))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: V,
    ) -> Result<V::Value, FoundNames> {
        Err(FoundNames(vec![name]))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        _: V,
    ) -> Result<V::Value, FoundNames> {
        Err(FoundNames(vec![name]))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit seq tuple map
        identifier ignored_any
    }
}

/// A listener that stops at the first name. Names inside a list or a tuple are not the message's.
struct Reader;

/// The early exit of the walk: not an error, but the result.
#[derive(Debug)]
struct Found(Kind);

const UNNAMED: Kind = Kind { index: 0, name: "MESSAGE" };

impl Listener for Reader {
    type Error = Found;

    #[inline]
    fn name(&mut self, name: &'static str) -> Result<(), Found> {
        Err(Found(Kind { index: 0, name }))
    }

    #[inline]
    fn variant(&mut self, index: u32, name: &'static str) -> Result<(), Found> {
        Err(Found(Kind { index, name }))
    }

    fn list(&mut self, _: usize) -> Result<(), Found> {
        Err(Found(UNNAMED))
    }

    fn tuple(&mut self) -> Result<(), Found> {
        Err(Found(UNNAMED))
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl std::error::Error for Found {}

impl Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Found(UNNAMED)
    }
}
