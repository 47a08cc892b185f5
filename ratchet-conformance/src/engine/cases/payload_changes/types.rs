//! The types of the changed arguments.

pub(super) use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
pub(super) use serde_json::Value;
pub(super) use uuid::Uuid;

macro_rules! types {
    ($($(#[$attribute:meta])* $kind:ident $name:ident $body:tt)*) => {$(
        #[derive(Debug, Serialize, Deserialize)]
        #[allow(dead_code)] // read by `Debug`
        $(#[$attribute])*
        pub(super) $kind $name $body
    )*};
}

#[derive(Debug, Serialize, Deserialize)]
#[allow(dead_code)]
pub(super) struct Cents(u32);

types! {
    struct Money { cents: u32 }
    struct MoneyWithNote { cents: u32, note: Option<String> }
    struct MoneyWithRemark { cents: u32, remark: Option<String> }
    struct MoneyWithScale { cents: u32, #[serde(default)] scale: u8 }
    struct MoneyWithCurrency { cents: u32, currency: String }
    #[serde(deny_unknown_fields)]
    struct ClosedMoney { cents: u32 }
    struct Amount { #[serde(alias = "cents")] units: u32 }
    enum Size { Small, Large }
    enum MoreSizes { Small, Large, Huge }
    enum OneSize { Small }
    enum OpenSize { Small, #[serde(other)] Other }
    enum SizeWithContent { Small, Large(u32) }
    #[serde(tag = "kind")]
    enum TaggedSize { Small, Large }
    #[serde(tag = "kind")]
    enum Shipping { Pickup, Parcel { street: String } }
    #[serde(tag = "kind")]
    enum ShippingWithZip { Pickup, Parcel { street: String, zip: String } }
}

/// A `validate` function that accepts nothing.
pub(super) fn refuse<J>(_: &J) -> Result<(), &'static str> {
    Err("nothing is good enough")
}
