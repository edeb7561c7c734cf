//! What a message takes on the wire, counted without writing it.
//!
//! The wire of Doorway is `postcard`: whole numbers of variable length (7 bits a byte), the number of the variant before
//! the content of an enum, the length before the content of a list. A simulator that counts bytes for every message
//! cannot afford to write them, so this serializer only adds up; the test compares it with the real one.

use doorway_core::{Kind, kind};
use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// The kind of a message, and the bytes that it takes with its header.
#[inline]
pub fn measure<H: Serialize, M: Serialize>(header: &H, msg: &M) -> (Kind, u64) {
    let mut size = Size(0);
    // Counting cannot fail; a type that refuses to be serialised counts as far as it got.
    let _ = header.serialize(&mut size);
    let _ = msg.serialize(&mut size);
    (kind(msg), size.0)
}

/// Bytes so far.
struct Size(u64);

/// What a type reports that refuses to be serialised.
#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a message refuses to be serialised")
    }
}

impl std::error::Error for Refused {}

impl Error for Refused {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Refused
    }
}

impl Size {
    #[inline]
    fn add(&mut self, bytes: u64) -> Result<(), Refused> {
        self.0 += bytes;
        Ok(())
    }

    /// A number of variable length: 7 bits a byte.
    #[inline]
    fn number(&mut self, value: u64) -> Result<(), Refused> {
        let bits = 64 - u64::from((value | 1).leading_zeros());
        // The bits divided by 7, rounded up: exact for 1 to 64, and without a division.
        self.add((bits * 9 + 64) >> 6)
    }

    /// Signed numbers are folded so that small ones of either sign are short.
    #[inline]
    fn signed(&mut self, value: i64) -> Result<(), Refused> {
        self.number(((value << 1) ^ (value >> 63)) as u64)
    }
}

impl Serializer for &mut Size {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, _: bool) -> Result<(), Refused> {
        self.add(1)
    }

    fn serialize_i8(self, _: i8) -> Result<(), Refused> {
        self.add(1)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Refused> {
        self.signed(i64::from(value))
    }

    fn serialize_i32(self, value: i32) -> Result<(), Refused> {
        self.signed(i64::from(value))
    }

    fn serialize_i64(self, value: i64) -> Result<(), Refused> {
        self.signed(value)
    }

    fn serialize_u8(self, _: u8) -> Result<(), Refused> {
        self.add(1)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Refused> {
        self.number(u64::from(value))
    }

    fn serialize_u32(self, value: u32) -> Result<(), Refused> {
        self.number(u64::from(value))
    }

    fn serialize_u64(self, value: u64) -> Result<(), Refused> {
        self.number(value)
    }

    fn serialize_f32(self, _: f32) -> Result<(), Refused> {
        self.add(4)
    }

    fn serialize_f64(self, _: f64) -> Result<(), Refused> {
        self.add(8)
    }

    fn serialize_char(self, value: char) -> Result<(), Refused> {
        self.serialize_bytes(value.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn serialize_str(self, value: &str) -> Result<(), Refused> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Refused> {
        self.number(value.len() as u64)?;
        self.add(value.len() as u64)
    }

    fn serialize_none(self) -> Result<(), Refused> {
        self.add(1)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refused> {
        self.add(1)?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Refused> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), Refused> {
        self.number(u64::from(index))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        self.number(u64::from(index))?;
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Refused> {
        self.number(length.ok_or(Refused)? as u64)?;
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Refused> {
        self.number(u64::from(index))?;
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Refused> {
        self.serialize_seq(length)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Refused> {
        self.number(u64::from(index))?;
        Ok(self)
    }
}

/// The parts of anything compound simply follow each other.
macro_rules! parts_follow_each_other {
    ($($compound:ident: $method:ident($($key:ty)?)),* $(,)?) => {
        $(impl $compound for &mut Size {
            type Ok = ();
            type Error = Refused;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), Refused> {
                value.serialize(&mut **self)
            }

            #[inline]
            fn end(self) -> Result<(), Refused> {
                Ok(())
            }
        })*
    };
}

parts_follow_each_other! {
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(&'static str),
    SerializeStructVariant: serialize_field(&'static str),
}

impl SerializeMap for &mut Size {
    type Ok = ();
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Refused> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use doorway_core::{Fence, NodeId, NodeQueue, NodeSet, PerNode, Stamp};
    use proptest::prelude::*;
    use serde::Serialize;

    use super::*;

    #[derive(Clone, Debug, Serialize)]
    enum Everything {
        Unit,
        Newtype(u64),
        Tuple(i64, Option<u32>, bool),
        Struct { text: String, list: Vec<u16>, map: BTreeMap<u8, i32>, letter: char, float: f64 },
        Core { stamp: Stamp, nodes: NodeSet, queue: NodeQueue, table: PerNode<Option<Stamp>> },
    }

    fn everything() -> impl Strategy<Value = Everything> {
        let stamp =
            (any::<u64>(), 0..5_000_usize).prop_map(|(counter, i)| Stamp { counter, node: NodeId::new(i) });
        let nodes = || prop::collection::vec((0..300_usize).prop_map(NodeId::new), 0..20);
        prop_oneof![
            Just(Everything::Unit),
            any::<u64>().prop_map(Everything::Newtype),
            any::<(i64, Option<u32>, bool)>().prop_map(|(a, b, c)| Everything::Tuple(a, b, c)),
            any::<(String, Vec<u16>, BTreeMap<u8, i32>, char, f64)>().prop_map(
                |(text, list, map, letter, float)| Everything::Struct { text, list, map, letter, float }
            ),
            (stamp.clone(), nodes(), nodes(), prop::collection::vec(prop::option::of(stamp), 0..9)).prop_map(
                |(stamp, nodes, queue, table)| Everything::Core {
                    stamp,
                    nodes: nodes.into_iter().collect(),
                    queue: queue.into_iter().collect(),
                    table: table.into(),
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn it_counts_what_postcard_writes(fence in any::<u64>(), msg in everything()) {
            let written = |bytes: Result<Vec<u8>, _>| bytes.expect("postcard writes all of this").len() as u64;
            let expected = written(postcard::to_stdvec(&Fence(fence))) + written(postcard::to_stdvec(&msg));
            prop_assert_eq!(measure(&Fence(fence), &msg).1, expected);
        }
    }
}
