//! The changes of the table.

use serde_json::json;

use super::Change;

/// Declares the jobs of a change. A handler returns its arguments, so that the table shows what it received.
macro_rules! change {
    (@job $module:ident ($($option:tt)*) ($($arg:tt)*) [$($name:ident)*]) => {
        mod $module {
            #[allow(unused_imports, clippy::wildcard_imports)]
            use super::super::super::types::*;

            #[ratchet_macros::job(crate = crate::engine::unregistered, max_retries = 0, $($option)*)]
            pub(super) async fn change($($arg)*) -> String {
                let received: Vec<String> = vec![$(format!("{}={:?}", stringify!($name), $name)),*];
                received.join(", ")
            }
        }
    };
    ($title:literal, $name:literal $payload:tt,
        ($($old_option:tt)*) $old:tt $old_names:tt => ($($option:tt)*) $new:tt $new_names:tt) => {{
        mod case {
            use ratchet_core::Job as _;

            change!(@job old ($($old_option)*) $old $old_names);
            change!(@job new ($($option)*) $new $new_names);

            pub(super) const JOBS: [ratchet_core::Registration; 2] = [old::Change::JOB, new::Change::JOB];
        }
        let [old, new] = case::JOBS;
        Change { title: $title, name: $name, payload: json!($payload), old, new: Some(new) }
    }};
}

#[allow(clippy::too_many_lines)] // one entry per row of the table
pub(super) fn changes() -> Vec<Change> {
    let mut changes = vec![
        change!(
            "nothing", "change-01" {"a": 1},
            (name = "change-01") (a: u32) [a]
            => (name = "change-01") (a: u32) [a]
        ),
        change!(
            "arguments in another order", "change-02" {"a": 1, "b": "x"},
            (name = "change-02") (a: u32, b: String) [a b]
            => (name = "change-02") (b: String, a: u32) [b a]
        ),
        change!(
            "new `Option` argument", "change-03" {"a": 1},
            (name = "change-03") (a: u32) [a]
            => (name = "change-03") (a: u32, b: Option<String>) [a b]
        ),
        change!(
            "new argument with `#[job(default)]`", "change-04" {"a": 1},
            (name = "change-04") (a: u32) [a]
            => (name = "change-04") (a: u32, #[job(default)] b: u32) [a b]
        ),
        change!(
            "new argument with `#[job(default = 7)]`", "change-05" {"a": 1},
            (name = "change-05") (a: u32) [a]
            => (name = "change-05") (a: u32, #[job(default = 7)] b: u32) [a b]
        ),
        change!(
            "new required argument", "change-06" {"a": 1},
            (name = "change-06") (a: u32) [a]
            => (name = "change-06") (a: u32, b: u32) [a b]
        ),
        change!(
            "argument removed", "change-07" {"a": 1, "b": "x"},
            (name = "change-07") (a: u32, b: String) [a b]
            => (name = "change-07") (a: u32) [a]
        ),
        change!(
            "argument removed, `strict`", "change-08" {"a": 1, "b": "x"},
            (name = "change-08") (a: u32, b: String) [a b]
            => (name = "change-08", strict) (a: u32) [a]
        ),
        change!(
            "`Option` argument removed", "change-09" {"a": 1, "b": "x"},
            (name = "change-09") (a: u32, b: Option<String>) [a b]
            => (name = "change-09") (a: u32) [a]
        ),
        change!(
            "required argument renamed", "change-10" {"to": "x"},
            (name = "change-10") (to: String) [to]
            => (name = "change-10") (recipient: String) [recipient]
        ),
        change!(
            "required argument renamed, with alias", "change-11" {"to": "x"},
            (name = "change-11") (to: String) [to]
            => (name = "change-11") (#[job(alias = "to")] recipient: String) [recipient]
        ),
        change!(
            "`Option` argument renamed", "change-12" {"to": "x"},
            (name = "change-12") (to: Option<String>) [to]
            => (name = "change-12") (recipient: Option<String>) [recipient]
        ),
        change!(
            "`Option` argument renamed, with alias", "change-13" {"to": "x"},
            (name = "change-13") (to: Option<String>) [to]
            => (name = "change-13") (#[job(alias = "to")] recipient: Option<String>) [recipient]
        ),
        change!(
            "alias of an argument removed", "change-14" {"old": "x"},
            (name = "change-14") (#[job(alias = "old")] to: String) [to]
            => (name = "change-14") (to: String) [to]
        ),
        change!(
            "argument becomes optional", "change-15" {"a": 1},
            (name = "change-15") (a: u32) [a]
            => (name = "change-15") (a: Option<u32>) [a]
        ),
        change!(
            "optional argument becomes required", "change-16" {},
            (name = "change-16") (a: Option<u32>) [a]
            => (name = "change-16") (a: u32) [a]
        ),
        change!(
            "default of an argument changed", "change-17" {},
            (name = "change-17") (#[job(default = 1)] a: u32) [a]
            => (name = "change-17") (#[job(default = 2)] a: u32) [a]
        ),
        change!(
            "argument becomes secret", "change-18" {"a": 1},
            (name = "change-18") (a: u32) [a]
            => (name = "change-18") (#[job(secret)] a: u32) [a]
        ),
        change!(
            "`u32` → `u64`", "change-19" {"a": 4_000_000_000_u32},
            (name = "change-19") (a: u32) [a]
            => (name = "change-19") (a: u64) [a]
        ),
        change!(
            "`u64` → `u32`", "change-20" {"a": 5_000_000_000_u64},
            (name = "change-20") (a: u64) [a]
            => (name = "change-20") (a: u32) [a]
        ),
        change!(
            "`i64` → `u64`", "change-21" {"a": -5},
            (name = "change-21") (a: i64) [a]
            => (name = "change-21") (a: u64) [a]
        ),
        change!(
            "`u32` → `f64`", "change-22" {"a": 1},
            (name = "change-22") (a: u32) [a]
            => (name = "change-22") (a: f64) [a]
        ),
        change!(
            "`f64` → `u32`", "change-23" {"a": 1.5},
            (name = "change-23") (a: f64) [a]
            => (name = "change-23") (a: u32) [a]
        ),
        change!(
            "`u32` → `String`", "change-24" {"a": 1},
            (name = "change-24") (a: u32) [a]
            => (name = "change-24") (a: String) [a]
        ),
        change!(
            "`char` → `String`", "change-25" {"a": "x"},
            (name = "change-25") (a: char) [a]
            => (name = "change-25") (a: String) [a]
        ),
        change!(
            "`String` → `Uuid`", "change-26" {"a": "x"},
            (name = "change-26") (a: String) [a]
            => (name = "change-26") (a: Uuid) [a]
        ),
        change!(
            "`Uuid` → `String`", "change-27" {"a": "00000000-0000-4000-8000-000000000000"},
            (name = "change-27") (a: Uuid) [a]
            => (name = "change-27") (a: String) [a]
        ),
        change!(
            "`T` → `Vec<T>`", "change-28" {"a": 1},
            (name = "change-28") (a: u32) [a]
            => (name = "change-28") (a: Vec<u32>) [a]
        ),
        change!(
            "`(T, T)` → `Vec<T>`", "change-29" {"a": [1, 2]},
            (name = "change-29") (a: (u32, u32)) [a]
            => (name = "change-29") (a: Vec<u32>) [a]
        ),
        change!(
            "`Vec<T>` → `(T, T)`", "change-30" {"a": [1]},
            (name = "change-30") (a: Vec<u32>) [a]
            => (name = "change-30") (a: (u32, u32)) [a]
        ),
        change!(
            "value → newtype", "change-31" {"a": 1},
            (name = "change-31") (a: u32) [a]
            => (name = "change-31") (a: Cents) [a]
        ),
        change!(
            "value → struct", "change-32" {"a": 1},
            (name = "change-32") (a: u32) [a]
            => (name = "change-32") (a: Money) [a]
        ),
        change!(
            "type → `serde_json::Value`", "change-33" {"a": 1},
            (name = "change-33") (a: u32) [a]
            => (name = "change-33") (a: Value) [a]
        ),
        change!(
            "`serde_json::Value` → type", "change-34" {"a": "x"},
            (name = "change-34") (a: Value) [a]
            => (name = "change-34") (a: u32) [a]
        ),
        change!(
            "struct → map", "change-35" {"a": {"cents": 1}},
            (name = "change-35") (a: Money) [a]
            => (name = "change-35") (a: BTreeMap<String, u32>) [a]
        ),
        change!(
            "map → struct", "change-36" {"a": {"x": 1}},
            (name = "change-36") (a: BTreeMap<String, u32>) [a]
            => (name = "change-36") (a: Money) [a]
        ),
        change!(
            "new `Option` field in a struct", "change-37" {"a": {"cents": 1}},
            (name = "change-37") (a: Money) [a]
            => (name = "change-37") (a: MoneyWithNote) [a]
        ),
        change!(
            "new field with `#[serde(default)]`", "change-38" {"a": {"cents": 1}},
            (name = "change-38") (a: Money) [a]
            => (name = "change-38") (a: MoneyWithScale) [a]
        ),
        change!(
            "new required field in a struct", "change-39" {"a": {"cents": 1}},
            (name = "change-39") (a: Money) [a]
            => (name = "change-39") (a: MoneyWithCurrency) [a]
        ),
        change!(
            "field removed", "change-40" {"a": {"cents": 1, "currency": "EUR"}},
            (name = "change-40") (a: MoneyWithCurrency) [a]
            => (name = "change-40") (a: Money) [a]
        ),
        change!(
            "field removed, `deny_unknown_fields`", "change-41" {"a": {"cents": 1, "currency": "EUR"}},
            (name = "change-41") (a: MoneyWithCurrency) [a]
            => (name = "change-41") (a: ClosedMoney) [a]
        ),
        change!(
            "field renamed, with `#[serde(alias)]`", "change-42" {"a": {"cents": 1}},
            (name = "change-42") (a: Money) [a]
            => (name = "change-42") (a: Amount) [a]
        ),
        change!(
            "`Option` field renamed", "change-43" {"a": {"cents": 1, "note": "x"}},
            (name = "change-43") (a: MoneyWithNote) [a]
            => (name = "change-43") (a: MoneyWithRemark) [a]
        ),
        change!(
            "new variant", "change-44" {"a": "Small"},
            (name = "change-44") (a: Size) [a]
            => (name = "change-44") (a: MoreSizes) [a]
        ),
        change!(
            "variant removed", "change-45" {"a": "Large"},
            (name = "change-45") (a: Size) [a]
            => (name = "change-45") (a: OneSize) [a]
        ),
        change!(
            "variant removed, `#[serde(other)]`", "change-46" {"a": "Large"},
            (name = "change-46") (a: Size) [a]
            => (name = "change-46") (a: OpenSize) [a]
        ),
        change!(
            "variant gets content", "change-47" {"a": "Large"},
            (name = "change-47") (a: Size) [a]
            => (name = "change-47") (a: SizeWithContent) [a]
        ),
        change!(
            "external tag → internal tag", "change-48" {"a": "Small"},
            (name = "change-48") (a: Size) [a]
            => (name = "change-48") (a: TaggedSize) [a]
        ),
        change!(
            "new required field in a variant", "change-49" {"a": {"kind": "Parcel", "street": "x"}},
            (name = "change-49") (a: Shipping) [a]
            => (name = "change-49") (a: ShippingWithZip) [a]
        ),
        change!(
            "job renamed", "change-50" {"a": 1},
            (name = "change-50") (a: u32) [a]
            => (name = "change-50-new") (a: u32) [a]
        ),
        change!(
            "job renamed, with alias", "change-51" {"a": 1},
            (name = "change-51") (a: u32) [a]
            => (name = "change-51-new", alias = "change-51") (a: u32) [a]
        ),
        change!(
            "job removed", "change-52" {"a": 1},
            (name = "change-52") (a: u32) [a]
            => (name = "change-52") (a: u32) [a]
        ),
        change!(
            "alias of a job removed", "change-53" {"a": 1},
            (name = "change-53", alias = "former") (a: u32) [a]
            => (name = "change-53") (a: u32) [a]
        ),
        change!(
            "higher version", "change-54" {"a": 1},
            (name = "change-54") (a: u32) [a]
            => (name = "change-54", version = 2) (a: u32) [a]
        ),
        change!(
            "higher version, new required argument", "change-55" {"a": 1},
            (name = "change-55") (a: u32) [a]
            => (name = "change-55", version = 2) (a: u32, b: u32) [a b]
        ),
        change!(
            "lower version", "change-56" {"a": 1},
            (name = "change-56", version = 2) (a: u32) [a]
            => (name = "change-56") (a: u32) [a]
        ),
        change!(
            "another queue", "change-57" {"a": 1},
            (name = "change-57") (a: u32) [a]
            => (name = "change-57", queue = "other") (a: u32) [a]
        ),
        change!(
            "key template changed", "change-58" {"a": 1},
            (name = "change-58", business_key = "a-{a}") (a: u32) [a]
            => (name = "change-58", business_key = "b-{a}") (a: u32) [a]
        ),
        change!(
            "key template added", "change-59" {"a": 1},
            (name = "change-59") (a: u32) [a]
            => (name = "change-59", business_key = "b-{a}") (a: u32) [a]
        ),
        change!(
            "`validate` added, which refuses", "change-60" {"a": 1},
            (name = "change-60") (a: u32) [a]
            => (name = "change-60", validate = refuse) (a: u32) [a]
        ),
    ];
    for change in changes.iter_mut().filter(|change| change.name == "change-52") {
        change.new = None;
    }
    changes
}
