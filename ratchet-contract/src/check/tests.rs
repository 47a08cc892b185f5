use serde_json::{Value, json};

use super::*;
use crate::Contract;

fn job(name: &str) -> JobContract {
    let lock = include_str!("../../tests/codegen/ratchet.lock");
    let mut contract: Contract = lock.parse().expect("a lock file");
    contract.jobs.remove(name).expect("it is in the lock file")
}

/// An argument of every shape.
fn shapes() -> Value {
    json!({
        "any": [1, "a"], "null": null, "flag": true, "small": -128, "word": 4_294_967_295_u32, "big": u64::MAX,
        "huge": -1, "ratio": 1, "letter": "ß", "text": "", "id": "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "at": "2026-11-18T00:00:00Z", "day": "2026-11-18", "maybe": null, "list": [1, 2], "bytes": [0, 255],
        "pair": [1, "a"], "map": { "a": 1.5 }, "numbered": { "7": true }, "either": 1.5,
        "item": { "sku": "a", "count": 1, "remark": "b", "more": 1 }, "closed": { "unitPrice": 2 },
        "external": { "Named": { "width": 1 } }, "internal": { "type": "created", "id": 1, "at": "" },
        "adjacent": { "t": "Both", "c": [1, 2] }, "open": "unheard-of",
        "tree": { "value": "67e5504410b1426f9247bb680e5fe0c8", "children": [] },
        "odd": { "content-type": "text/plain" }, "from": "x",
    })
}

/// Replaces the value at a JSON pointer.
fn with(pointer: &str, value: Value) -> Value {
    let mut arguments = shapes();
    *arguments.pointer_mut(pointer).expect("it is there") = value;
    arguments
}

#[test]
fn fitting_arguments_are_accepted() {
    let job = job("shop.shapes");
    assert_eq!(job.check(&shapes()), Ok(()));
    for (pointer, value) in [
        ("/maybe", json!("a")),
        ("/external", json!("Small")),
        ("/external", json!({ "Custom": 7 })),
        ("/external", json!({ "Small": null })),
        ("/internal", json!({ "type": "emptied" })),
        ("/adjacent", json!({ "t": "Ping" })),
        ("/adjacent", json!({ "t": "Moved", "c": { "x": 1 } })),
        ("/either", json!("text")),
        ("/huge", json!(1e30)),
    ] {
        assert_eq!(job.check(&with(pointer, value.clone())), Ok(()), "{pointer}: {value}");
    }
    let mut without = shapes();
    without.as_object_mut().expect("an object").remove("maybe");
    assert_eq!(job.check(&without), Ok(()), "an optional argument may be missing");
}

#[test]
fn a_mistake_has_a_path() {
    let job = job("shop.shapes");
    for (pointer, value, mistake) in [
        ("/null", json!(1), "$.null must be null, not a number"),
        ("/flag", json!("true"), "$.flag must be true or false, not a string"),
        ("/small", json!(128), "$.small must be a whole number from -128 to 127"),
        ("/word", json!(-1), "$.word must be a whole number from 0 to 4294967295"),
        ("/big", json!(1.5), "not a number with a fraction"),
        ("/huge", json!(0.5), "$.huge must be a whole number, not"),
        ("/ratio", json!("1"), "$.ratio must be a number, not a string"),
        ("/letter", json!("ab"), "$.letter must be a string with one character"),
        ("/text", json!(null), "$.text must be a string, not null"),
        ("/id", json!("67e55044"), "$.id must be a UUID"),
        ("/list", json!([1, -1]), "$.list[1] must be a whole number from 0 to"),
        ("/bytes", json!([256]), "$.bytes[0] must be a whole number from 0 to 255"),
        ("/pair", json!([1]), "$.pair must be an array of 2 values, not 1"),
        ("/pair", json!([1, 2]), "$.pair[1] must be a string"),
        ("/map", json!({ "a b": "c" }), r#"$.map["a b"] must be a number"#),
        ("/numbered", json!({ "x": true }), "$.numbered.x must have a key that is a whole number"),
        ("/either", json!(true), "$.either must be one of string, f64, not a boolean"),
        ("/item", json!([]), "$.item must be an object, not an array"),
        ("/item", json!({ "sku": "a" }), "$.item.count is missing"),
        (
            "/closed",
            json!({ "unitPrice": 1, "price": 1 }),
            "$.closed.price is not known; the fields are: unitPrice",
        ),
        ("/external", json!("Tiny"), "$.external must be one of Small, Large, Custom"),
        ("/external", json!({ "Custom": -1 }), "$.external.Custom must be a whole number"),
        ("/external", json!({ "Named": { "width": "1" } }), "$.external.Named.width must be"),
        ("/external", json!("Custom"), "$.external must have the content of its variant"),
        ("/external", json!({}), "$.external must be the name of a variant"),
        ("/internal", json!({ "id": 1 }), "$.internal.type is missing"),
        ("/internal", json!({ "type": "created", "id": "1", "at": "" }), "$.internal.id must be"),
        ("/internal", json!({ "type": "created", "id": 1 }), "$.internal.at is missing"),
        ("/adjacent", json!({ "t": "Text" }), "$.adjacent.c must have the content"),
        ("/adjacent", json!({ "t": "Both", "c": [1, 300] }), "$.adjacent.c[1] must be"),
        ("/tree", json!({ "value": "x", "children": [] }), "$.tree.value must be a UUID"),
        ("/odd", json!({}), r#"$.odd["content-type"] is missing"#),
        ("/from", json!(["x"]), "$.from must be a string, not an array"),
    ] {
        let found = job.check(&with(pointer, value.clone())).expect_err("is refused").to_string();
        assert!(found.contains(mistake), "{pointer} {value}: {found}");
        assert!(job.check_stored(&with(pointer, value)).is_err(), "{pointer}");
    }
}

#[test]
fn unknown_and_missing_arguments_are_refused() {
    let job = job("shop.send_email");
    let given = json!({ "recipient": "ada", "subject": "s", "urgent": false });
    assert_eq!(job.check(&given), Ok(()), "an older name is accepted");
    let mistake = job.check(&json!({ "to": "ada", "urgent": true })).expect_err("is refused");
    assert_eq!(mistake.to_string(), "$.subject is missing");
    let more = json!({ "to": "a", "subject": "s", "urgent": true, "cc": 1 });
    let mistake = job.check(&more).expect_err("is refused");
    assert!(mistake.to_string().starts_with("$.cc is not known; the fields are: to, subject"));
    assert_eq!(job.check_stored(&more), Ok(()), "a worker ignores it");
    assert!(job.check(&json!(1)).is_err());
}

#[test]
fn arguments_with_their_default_value_are_found() {
    let job = job("shop.send_email");
    assert_eq!(job.defaulted(&json!({ "to": "a", "copies": 3 })), ["copies"]);
    assert!(job.defaulted(&json!({ "to": "a", "copies": 2 })).is_empty());
    assert!(job.defaulted(&json!({ "to": "a" })).is_empty());
}

#[test]
fn keys_are_derived_from_plain_arguments() {
    let job = job("shop.send_email");
    let given = json!({ "to": "ada", "subject": "hi", "urgent": true });
    assert_eq!(job.key("idempotency", &given).as_deref(), Some("mail-ada-hi-true"));
    // A field of an object cannot be derived outside of Rust.
    assert_eq!(job.key("business", &given), None);
    assert_eq!(job.key("idempotency", &json!({ "to": "ada" })), None);
}

#[test]
fn optional_arguments_that_are_absent_are_found() {
    let job = job("shop.send_email");
    assert_eq!(job.absent(&json!({ "to": "a" })), ["token"]);
    assert!(job.absent(&json!({ "to": "a", "token": null })).is_empty());
}

#[test]
fn numbers_are_compared_by_value() {
    let mut job = job("shop.send_email");
    job.arguments[3].default = Some(json!({ "a": [1.0] }));
    assert_eq!(job.defaulted(&json!({ "copies": { "a": [1] } })), ["copies"]);
    assert!(job.defaulted(&json!({ "copies": { "a": [2] } })).is_empty());
}
