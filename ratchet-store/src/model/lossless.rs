//! Finds values that JSON cannot represent, because they would be read back as something else.
//!
//! JSON has one `null`. Therefore NaN and the infinities, `Some(None)` and `Some(())` would all be read back as `None`.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

/// Returns an error if a value contains something that would be read back as another value.
pub(super) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), Error> {
    value.serialize(Check).map(drop)
}

/// What a value is in JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Json {
    Null,
    Other,
}

/// A serializer that writes nothing.
struct Check;

/// The parts of an array or object.
struct Parts;

type Checked = Result<Json, Error>;

fn finite(value: f64) -> Checked {
    if value.is_finite() {
        return Ok(Json::Other);
    }
    Err(Error::custom(format_args!(
        "{value} has no representation in JSON and would be read back as `null`"
    )))
}

macro_rules! others {
    ($($method:ident($($ty:ty),*);)*) => {
        $(fn $method(self, $(_: $ty),*) -> Checked { Ok(Json::Other) })*
    };
}

impl Serializer for Check {
    type Ok = Json;
    type Error = Error;
    type SerializeSeq = Parts;
    type SerializeTuple = Parts;
    type SerializeTupleStruct = Parts;
    type SerializeTupleVariant = Parts;
    type SerializeMap = Parts;
    type SerializeStruct = Parts;
    type SerializeStructVariant = Parts;

    others! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_f32(self, value: f32) -> Checked {
        finite(value.into())
    }

    fn serialize_f64(self, value: f64) -> Checked {
        finite(value)
    }

    fn serialize_none(self) -> Checked {
        Ok(Json::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        match value.serialize(self)? {
            Json::Other => Ok(Json::Other),
            Json::Null => Err(Error::custom(
                "a `Some` whose content is `null` in JSON would be read back as `None`",
            )),
        }
    }

    fn serialize_unit(self) -> Checked {
        Ok(Json::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Checked {
        Ok(Json::Null)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)?;
        Ok(Json::Other)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts, Error> {
        Ok(Parts)
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts, Error> {
        Ok(Parts)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts, Error> {
        Ok(Parts)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts, Error> {
        Ok(Parts)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts, Error> {
        Ok(Parts)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts, Error> {
        Ok(Parts)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts, Error> {
        Ok(Parts)
    }
}

macro_rules! parts {
    ($($compound:ident: $method:ident($($key:ty)?);)*) => {
        $(impl $compound for Parts {
            type Ok = Json;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), Error> {
                check(value)
            }

            fn end(self) -> Checked {
                Ok(Json::Other)
            }
        })*
    };
}

parts! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeStruct: serialize_field(&'static str);
    SerializeStructVariant: serialize_field(&'static str);
}

impl SerializeMap for Parts {
    type Ok = Json;
    type Error = Error;

    // JSON turns keys into strings, or refuses them.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        check(value)
    }

    fn end(self) -> Checked {
        Ok(Json::Other)
    }
}
