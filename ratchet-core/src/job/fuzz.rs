//! Property tests of decoding: any stored payload is either refused or decoded, never trusted. `PROPTEST_CASES` sets
//! the number of cases.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Arg, Decoder, Encoder, arg};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Dot,
    Circle(f64),
    Named { name: String, sides: Vec<u8> },
}

const TEXT: Arg<String> = arg("text", "String");
const MAYBE: Arg<Option<i64>> = arg("maybe", "Option<i64>");
const SHAPES: Arg<Vec<Shape>> = arg("shapes", "Vec<Shape>");

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Dot),
        (-1e9_f64..1e9).prop_map(Shape::Circle),
        ("\\PC{0,20}", proptest::collection::vec(any::<u8>(), 0..5))
            .prop_map(|(name, sides)| Shape::Named { name, sides }),
    ]
}

/// Reads every argument, even if an earlier one was refused.
fn read(payload: &[u8]) {
    if let Ok(mut decoder) = Decoder::new(payload) {
        let _ = decoder.take(TEXT);
        let _ = decoder.take(MAYBE);
        let _ = decoder.take(SHAPES);
    }
}

/// Generates arbitrary JSON values.
fn json(depth: u32) -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(depth, 32, 5, |inner| {
        let name = prop_oneof!["text|maybe|shapes|Dot|Circle|Named|name|sides", "\\PC{0,6}"];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn e_09_any_bytes_are_refused_or_read(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&payload);
    }

    #[test]
    fn e_09_any_json_is_refused_or_read(value in json(4), cut in 0_usize..400) {
        let payload = value.to_string().into_bytes();
        read(&payload);
        read(&payload[..cut.min(payload.len())]);
    }

    #[test]
    fn s_01_what_is_written_is_read(
        text in "\\PC{0,60}|.{0,60}", maybe in any::<Option<i64>>(),
        shapes in proptest::collection::vec(shape(), 0..4)
    ) {
        let mut encoder = Encoder::new();
        encoder.put(TEXT, &text);
        encoder.put(MAYBE, &maybe);
        encoder.put(SHAPES, &shapes);
        let payload = encoder.finish().expect("is written");
        let mut decoder = Decoder::new(&payload).expect("is read");
        prop_assert_eq!(decoder.take(TEXT).expect("is read"), text);
        prop_assert_eq!(decoder.take(MAYBE).expect("is read"), maybe);
        prop_assert_eq!(decoder.take(SHAPES).expect("is read"), shapes);
    }
}

#[test]
fn e_09_a_deep_payload_is_refused() {
    let deep = format!("{{\"shapes\":{}", "[".repeat(100_000));
    read(deep.as_bytes());
    let whole = format!("{{\"shapes\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    read(whole.as_bytes());
}

#[test]
fn s_01_a_float_comes_back_as_it_was() {
    const NUMBER: Arg<f64> = arg("number", "f64");
    let number = -175_745_830.194_383_05_f64;
    let mut encoder = Encoder::new();
    encoder.put(NUMBER, &number);
    let payload = encoder.finish().expect("is written");
    let read = Decoder::new(&payload).expect("is read").take(NUMBER).expect("is read");
    assert_eq!(read.to_bits(), number.to_bits());
}
