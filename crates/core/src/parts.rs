//! Walks the parts of a serialisable value: its numbers, names and lists, in the order of a format without
//! field names.
//!
//! The walk needs no knowledge of the value's type and reaches every part, however deeply nested. A
//! [`Listener`] overrides only the methods that it needs.

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Receives the parts of a value, and can end the walk with an error. By default each part is ignored.
pub trait Listener {
    /// Why the walk ended early.
    type Error: Error;

    /// A struct of this name begins.
    #[inline]
    fn name(&mut self, _name: &'static str) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A variant of an enum begins: its place among the variants, and its name.
    #[inline]
    fn variant(&mut self, _index: u32, _name: &'static str) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A list or a map begins, with its number of elements.
    #[inline]
    fn list(&mut self, _length: usize) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A tuple begins.
    #[inline]
    fn tuple(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// An unsigned integer of 16 bits or more.
    #[inline]
    fn whole(&mut self, _value: u64) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A signed integer of 16 bits or more.
    #[inline]
    fn signed(&mut self, _value: i64) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A value of fixed size in bytes: a boolean, a byte, a float, the tag of an option.
    #[inline]
    fn fixed(&mut self, _bytes: u64) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Text or raw bytes of this length in bytes.
    #[inline]
    fn text(&mut self, _bytes: usize) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Reports every part of `value` to a listener.
///
/// # Errors
/// The listener's error, or the value's own if it cannot be serialised.
#[inline]
pub fn walk<T: Serialize + ?Sized, L: Listener>(value: &T, listener: &mut L) -> Result<(), L::Error> {
    value.serialize(Walk(listener))
}

/// The serializer: it writes nothing and reports to its listener.
struct Walk<'a, L>(&'a mut L);

/// A scalar is one call to the listener.
macro_rules! scalars {
    ($($method:ident($value:ident: $type:ty) => $call:ident($part:expr)),* $(,)?) => {
        $(#[inline]
        fn $method(self, $value: $type) -> Result<(), L::Error> {
            self.0.$call($part)
        })*
    };
}

impl<L: Listener> Serializer for Walk<'_, L> {
    type Ok = ();
    type Error = L::Error;
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

    scalars! {
        serialize_bool(_value: bool) => fixed(1),
        serialize_i8(_value: i8) => fixed(1),
        serialize_u8(_value: u8) => fixed(1),
        serialize_f32(_value: f32) => fixed(4),
        serialize_f64(_value: f64) => fixed(8),
        serialize_i16(value: i16) => signed(i64::from(value)),
        serialize_i32(value: i32) => signed(i64::from(value)),
        serialize_i64(value: i64) => signed(value),
        serialize_u16(value: u16) => whole(u64::from(value)),
        serialize_u32(value: u32) => whole(u64::from(value)),
        serialize_u64(value: u64) => whole(value),
        serialize_char(value: char) => text(value.len_utf8()),
        serialize_str(value: &str) => text(value.len()),
        serialize_bytes(value: &[u8]) => text(value.len()),
        serialize_unit_struct(name: &'static str) => name(name),
    }

    fn serialize_none(self) -> Result<(), L::Error> {
        self.0.fixed(1)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), L::Error> {
        self.0.fixed(1)?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), L::Error> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, index: u32, name: &'static str) -> Result<(), L::Error> {
        self.0.variant(index, name)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), L::Error> {
        self.0.name(name)?;
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), L::Error> {
        self.0.variant(index, name)?;
        value.serialize(self)
    }

    #[inline]
    fn serialize_seq(self, length: Option<usize>) -> Result<Self, L::Error> {
        self.0.list(length.ok_or_else(|| L::Error::custom("a list does not know its length"))?)?;
        Ok(self)
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Self, L::Error> {
        self.0.tuple()?;
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Self, L::Error> {
        self.0.name(name)?;
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self, L::Error> {
        self.0.variant(index, name)?;
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, L::Error> {
        self.serialize_seq(length)
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Self, L::Error> {
        self.0.name(name)?;
        Ok(self)
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self, L::Error> {
        self.0.variant(index, name)?;
        Ok(self)
    }
}

/// The parts of a compound value follow each other without delimiters.
macro_rules! parts_follow_each_other {
    ($($compound:ident: $($method:ident($($key:ty)?)),+);* $(;)?) => {
        $(impl<L: Listener> $compound for Walk<'_, L> {
            type Ok = ();
            type Error = L::Error;

            $(#[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), L::Error> {
                walk(value, self.0)
            })+

            #[inline]
            fn end(self) -> Result<(), L::Error> {
                Ok(())
            }
        })*
    };
}

parts_follow_each_other! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(&'static str);
    SerializeStructVariant: serialize_field(&'static str);
}
