//! Recognizes a domain failure: an output that is the `Err` of a `Result`.
//!
//! A job returns `Result<Result<Receipt, Declined>, JobError>`. The outer error fails the attempt. The inner one is an
//! expected answer, which is stored like any output.

use serde::de::value::Error;
use serde::ser::{Error as _, Impossible, Serialize, Serializer};

/// Returns `true` if the value serializes as the `Err` of a [`Result`]. Its content is not serialized.
pub(super) fn is_domain_failure<T: Serialize>(value: &T) -> bool {
    value.serialize(Shape).unwrap_or(false)
}

/// A serializer that only sees the outermost shape of a value.
struct Shape;

/// Methods for values that are not a `Result`.
macro_rules! others {
    ($($method:ident($($argument:ty),*);)*) => {
        $(fn $method(self $(, _: $argument)*) -> Result<bool, Error> {
            Ok(false)
        })*
    };
}

/// Methods for values with parts, none of which is a `Result`.
macro_rules! compounds {
    ($($method:ident($($argument:ty),*) -> $kind:ident;)*) => {
        $(fn $method(self $(, _: $argument)*) -> Result<Self::$kind, Error> {
            Err(Error::custom("not a result"))
        })*
    };
}

impl Serializer for Shape {
    type Ok = bool;
    type Error = Error;
    type SerializeSeq = Impossible<bool, Error>;
    type SerializeTuple = Impossible<bool, Error>;
    type SerializeTupleStruct = Impossible<bool, Error>;
    type SerializeTupleVariant = Impossible<bool, Error>;
    type SerializeMap = Impossible<bool, Error>;
    type SerializeStruct = Impossible<bool, Error>;
    type SerializeStructVariant = Impossible<bool, Error>;

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<bool, Error> {
        Ok(name == "Result" && variant == "Err")
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<bool, Error> {
        Ok(false)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<bool, Error> {
        Ok(false)
    }

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
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    compounds! {
        serialize_seq(Option<usize>) -> SerializeSeq;
        serialize_tuple(usize) -> SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_map(Option<usize>) -> SerializeMap;
        serialize_struct(&'static str, usize) -> SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    enum Lookalike {
        Err(u8),
        Tuple(u8, u8),
    }

    #[derive(serde::Serialize)]
    #[serde(transparent)]
    struct Transparent(Result<u8, u8>);

    #[test]
    fn e_12_only_the_err_of_a_result_is_a_domain_failure() {
        assert!(is_domain_failure(&Err::<u8, _>("declined")));
        assert!(is_domain_failure(&Err::<u8, _>(())));
        assert!(is_domain_failure(&Err::<u8, _>(vec![1, 2])));
        assert!(is_domain_failure(&Box::new(Err::<u8, _>(1))));
        assert!(is_domain_failure(&Transparent(Err(1))));
        assert!(!is_domain_failure(&Ok::<_, u8>(Err::<u8, _>(1))), "the outermost one decides");
        assert!(!is_domain_failure(&Some(Err::<u8, _>(1))));
        assert!(!is_domain_failure(&Lookalike::Err(1)));
        assert!(!is_domain_failure(&Lookalike::Tuple(1, 2)));
        assert!(!is_domain_failure(&serde_json::json!({ "Err": 1 })));
        assert!(!is_domain_failure(&[Err::<u8, _>(1)]));
        for value in [serde_json::json!(null), serde_json::json!(1.5), serde_json::json!("Err")] {
            assert!(!is_domain_failure(&value));
        }
    }
}
