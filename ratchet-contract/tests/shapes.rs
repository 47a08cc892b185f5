//! The shapes of types, traced through serde. `UPDATE_EXPECT=1` rewrites them.
// spec: U-03
#![allow(clippy::needless_raw_string_hashes)] // written by `expect_test`

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use expect_test::{Expect, expect};
use ratchet_contract::{Shapes, TypeDef, traced};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Item {
    sku: String,
    count: u32,
    #[serde(alias = "remark", alias = "a_note")]
    note: Option<String>,
    #[serde(default)]
    gift: bool,
}

mod other {
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct Item {
        pub(super) unit_price: f64,
    }
}

#[derive(Serialize, Deserialize)]
enum Kind {
    Small,
    Custom(u32),
    Pair(u8, String),
    Named { width: u16, height: Option<u16> },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Level {
    VeryLow,
    High,
    #[serde(other)]
    Unknown,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    Created { id: u64, at: String },
    Deleted { id: i16 },
    Emptied,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Message {
    Text(String),
    Both(u8, u8),
    Moved { x: f32 },
    Ping,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(u32),
    Item(Item),
}

#[derive(Serialize, Deserialize)]
struct Node {
    value: uuid::Uuid,
    children: Vec<Node>,
}

#[derive(Serialize, Deserialize)]
enum Expr {
    Add(Box<Expr>, Box<Expr>),
    Literal(i64),
    Call { name: String, arguments: Vec<Expr> },
}

#[derive(Serialize, Deserialize)]
struct Meters(f64);

#[derive(Serialize, Deserialize)]
struct Marker;

#[derive(Serialize, Deserialize)]
struct Page<T> {
    rows: Vec<T>,
    next: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Flat {
    id: u64,
    #[serde(flatten)]
    place: Place,
}

#[derive(Serialize, Deserialize)]
struct Place {
    city: String,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Shouted;

impl TryFrom<String> for Shouted {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        (text == "LOUD ENOUGH").then_some(Self).ok_or("must be loud enough")
    }
}

#[derive(Deserialize)]
struct Panics(
    #[serde(deserialize_with = "panics")]
    #[allow(dead_code)]
    u8,
);

fn panics<'de, D: serde::Deserializer<'de>>(_: D) -> Result<u8, D::Error> {
    panic!("a broken type")
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Mixed {
    loud: Shouted,
    after: u8,
    broken: Panics,
    last: Option<Kind>,
}

fn check<T: for<'de> Deserialize<'de>>(expected: &Expect) {
    let mut shapes = Shapes::default();
    let traced = shapes.trace(traced::<T>);
    let mut text = format!("{}\n", traced.shape);
    for (name, def) in shapes.into_types() {
        match def {
            TypeDef::Struct(fields) => {
                let _ = writeln!(text, "{name}{}", if fields.closed { " closed" } else { "" });
                for field in &fields.fields {
                    let _ = writeln!(text, "  {field}");
                }
            }
            TypeDef::Enum(def) => {
                let _ = writeln!(
                    text,
                    "{name} {:?}{}",
                    def.tagging,
                    if def.open { " open" } else { "" }
                );
                for variant in &def.variants {
                    let _ = writeln!(text, "  {}{}", variant.name, variant.content);
                }
            }
            _ => unreachable!("a struct or an enum"),
        }
    }
    match &traced.sample {
        Some(sample) => {
            let _ = writeln!(text, "{sample}");
            // What the tracer says that the type accepts, the type must accept.
            if let Err(error) = serde_json::from_value::<T>(sample.clone()) {
                panic!("{sample} is no example of the type: {error}");
            }
        }
        None => text.push_str("no example\n"),
    }
    for warning in &traced.warnings {
        let _ = writeln!(text, "! `{}` {}", warning.path, warning.text);
    }
    expected.assert_eq(&text);
}

#[test]
fn numbers_and_text() {
    check::<(bool, i8, u16, i64, u128, f32, char, String)>(&expect![[r#"
        (bool, i8, u16, i64, u128, f32, char, string)
        [true,1,1,1,1,1.0,"a",""]
    "#]]);
}

#[test]
fn options_and_lists() {
    check::<Option<Vec<Option<u32>>>>(&expect![[r#"
        [u32?]?
        [1]
    "#]]);
}

#[test]
fn maps_and_sets() {
    check::<(BTreeMap<String, u8>, HashMap<u32, bool>, BTreeSet<char>)>(&expect![[r#"
        ({string: u8}, {u32: bool}, [char])
        [{"":1},{"1":true},["a"]]
    "#]]);
}

#[test]
fn unit_newtype_and_arrays() {
    check::<((), Marker, Meters, [u8; 3], Box<str>)>(&expect![[r#"
        (null, null, f64, (u8, u8, u8), string)
        [null,null,1.0,[1,1,1],""]
    "#]]);
}

#[test]
fn formats() {
    check::<(
        uuid::Uuid,
        jiff::Timestamp,
        jiff::civil::Date,
        jiff::civil::Time,
        IpAddr,
        url::Url,
        Duration,
        NonZeroU32,
        std::path::PathBuf,
    )>(&expect![[r#"
        (string(uuid), string(date-time), string(date), string(time), string(ip), string(uri), $Duration, u32, string)
        Duration closed
          secs: u64
          nanos: u32
        ["00000000-0000-4000-8000-000000000000","2000-01-01T00:00:00Z","2000-01-01","12:00:00","127.0.0.1","https://example.com/",{"nanos":1,"secs":1},1,""]
    "#]]);
}

#[test]
fn a_struct_with_optional_fields_and_aliases() {
    check::<Item>(&expect![[r#"
        $Item
        Item
          sku: string
          count: u32
          note|a_note|remark?: string?
          gift?: bool
        {"count":1,"gift":true,"note":"","sku":""}
    "#]]);
}

#[test]
fn two_types_with_one_name() {
    check::<(Item, other::Item)>(&expect![[r#"
        ($Item, $Item_2)
        Item
          sku: string
          count: u32
          note|a_note|remark?: string?
          gift?: bool
        Item_2 closed
          unitPrice: f64
        [{"count":1,"gift":true,"note":"","sku":""},{"unitPrice":1.0}]
    "#]]);
}

#[test]
fn an_externally_tagged_enum() {
    check::<Kind>(&expect![[r#"
        $Kind
        Kind External
          Small
          Custom(u32)
          Pair(u8, string)
          Named { width: u16, height?: u16? }
        "Small"
    "#]]);
}

#[test]
fn an_enum_that_takes_unknown_variants() {
    check::<Level>(&expect![[r#"
        $Level
        Level External open
          very-low
          high
          unknown
        "very-low"
    "#]]);
}

#[test]
fn an_internally_tagged_enum() {
    check::<Event>(&expect![[r#"
        $Event
        Event Internal { tag: "type" }
          created { id: u64, at: string }
          deleted { id: i16 }
          emptied
        {"at":"","id":1,"type":"created"}
    "#]]);
}

#[test]
fn an_adjacently_tagged_enum() {
    check::<Message>(&expect![[r#"
        $Message
        Message Adjacent { tag: "t", content: "c" }
          Text(string)
          Both(u8, u8)
          Moved { x: f32 }
          Ping
        {"c":"","t":"Text"}
    "#]]);
}

#[test]
fn an_untagged_enum_is_any_with_a_warning() {
    check::<Vec<Either>>(&expect![[r#"
        [any]
        []
        ! `[]` is recorded as `any` (any value: data did not match any variant of untagged enum Either): give an untagged enum a tag, or take a type that is derived
    "#]]);
}

#[test]
fn a_type_that_contains_itself() {
    check::<Node>(&expect![[r#"
        $Node
        Node
          value: string(uuid)
          children: [$Node]
        {"children":[],"value":"00000000-0000-4000-8000-000000000000"}
    "#]]);
}

#[test]
fn an_enum_that_contains_itself() {
    check::<Expr>(&expect![[r#"
        $Expr
        Expr External
          Add($Expr, $Expr)
          Literal(i64)
          Call { name: string, arguments: [$Expr] }
        {"Add":[{"Literal":1},{"Literal":1}]}
    "#]]);
}

#[test]
fn generic_types() {
    check::<(Page<u8>, Page<Page<Item>>)>(&expect![[r#"
        ($Page, $Page_2)
        Item
          sku: string
          count: u32
          note|a_note|remark?: string?
          gift?: bool
        Page
          rows: [u8]
          next?: u64?
        Page_2
          rows: [$Page_3]
          next?: u64?
        Page_3
          rows: [$Item]
          next?: u64?
        [{"next":1,"rows":[1]},{"next":1,"rows":[{"next":1,"rows":[{"count":1,"gift":true,"note":"","sku":""}]}]}]
    "#]]);
}

#[test]
fn a_flattened_struct() {
    check::<Flat>(&expect![[r#"
        $Flat
        Flat
          id: u64
          city: string
        {"city":"","id":1}
    "#]]);
}

#[test]
fn any_value() {
    check::<(serde_json::Value, Box<serde_json::value::RawValue>)>(&expect![[r#"
        (any, any)
        [null,null]
    "#]]);
}

#[test]
fn what_cannot_be_traced_does_not_hide_the_rest() {
    check::<Mixed>(&expect![[r#"
        $Mixed
        Kind External
          Small
          Custom(u32)
          Pair(u8, string)
          Named { width: u16, height?: u16? }
        Mixed
          loud: string
          after: u8
          broken: any
          last?: $Kind?
        no example
        ! `.loud` is a string with an unknown format (must be loud enough): its payloads cannot be checked further
        ! `.broken` is recorded as `any` (it panicked): derive `Deserialize` without `untagged`, or take a type that is
    "#]]);
}

#[test]
fn a_result() {
    check::<Result<u8, String>>(&expect![[r#"
        $Result
        Result External
          Ok(u8)
          Err(string)
        {"Ok":1}
    "#]]);
}
