//! A deserializer over a JSON value whose errors are those of the tracer.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, VariantAccess, Visitor,
};
use serde_json::Value;

use super::error::TraceError;

#[derive(Debug, Clone, Copy)]
pub(super) struct Replay<'a>(pub(super) &'a Value);

impl IntoDeserializer<'_, TraceError> for Replay<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Replay<'_> {
    type Error = TraceError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::String(text) => visitor.visit_str(text),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, Some(number)) => visitor.visit_f64(number),
                _ => Err(TraceError::custom("the number is out of range")),
            },
            Value::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.iter().map(Replay)))
            }
            Value::Object(fields) => visitor.visit_map(MapDeserializer::new(
                fields.iter().map(|(key, value)| (key.as_str(), Replay(value))),
            )),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TraceError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(name.as_str().into_deserializer()),
            Value::Object(fields) if fields.len() == 1 => match fields.iter().next() {
                Some((name, content)) => visitor.visit_enum(External { name, content }),
                None => Err(TraceError::custom("expected a variant")),
            },
            _ => Err(TraceError::custom("expected a variant")),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct External<'a> {
    name: &'a str,
    content: &'a Value,
}

impl<'de, 'a> EnumAccess<'de> for External<'a> {
    type Error = TraceError;
    type Variant = Replay<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Replay<'a>), TraceError> {
        Ok((seed.deserialize(self.name.into_deserializer())?, Replay(self.content)))
    }
}

impl<'de> VariantAccess<'de> for Replay<'_> {
    type Error = TraceError;

    fn unit_variant(self) -> Result<(), TraceError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, TraceError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, TraceError> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TraceError> {
        self.deserialize_any(visitor)
    }
}
