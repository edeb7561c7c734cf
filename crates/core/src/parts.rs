//! What a value consists of: its numbers, names and lists, in the order in which a format without field names writes them.
//!
//! Whoever wants to know something about every part of a value, wherever it is nested, need not know the value's type:
//! anything that can be serialised can be walked over. A [`Listener`] says only what it wants to hear of.

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Hears of the parts of a value, and can end the walk by an error. What it does not listen to passes by.
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

    /// A list or a map of so many elements begins.
    #[inline]
    fn list(&mut self, _length: usize) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A tuple begins.
    #[inline]
    fn tuple(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A whole number without a sign, of 16 bits or more.
    #[inline]
    fn whole(&mut self, _value: u64) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A whole number with a sign, of 16 bits or more.
    #[inline]
    fn signed(&mut self, _value: i64) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Something that always takes so many bytes: a truth value, a byte, a float, whether an option is there.
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

/// Lets a listener hear of every part of `value`.
///
/// # Errors
/// What the listener ended the walk with, or what the value itself says if it refuses to be serialised.
#[inline]
pub fn walk<T: Serialize + ?Sized, L: Listener>(value: &T, listener: &mut L) -> Result<(), L::Error> {
    value.serialize(Walk(listener))
}

/// The serializer that writes nothing and tells its listener.
struct Walk<'a, L>(&'a mut L);

/// A scalar is one word to the listener.
macro_rules! scalars {
    ($($method:ident($value:ident: $type:ty) => $word:ident($told:expr)),* $(,)?) => {
        $(#[inline]
        fn $method(self, $value: $type) -> Result<(), L::Error> {
            self.0.$word($told)
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

/// The parts of anything compound simply follow each other.
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
