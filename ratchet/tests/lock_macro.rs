//! A program whose jobs are in `ratchet/ratchet.lock`: the one line that a user adds, with all that a job can declare.
// spec: U-03

use std::collections::BTreeMap;

use ratchet::prelude::*;
use serde::{Deserialize, Serialize};

/// A part of an order.
#[derive(Debug, Serialize, Deserialize)]
struct Item {
    sku: String,
    count: u32,
    note: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shipping {
    Pickup,
    Parcel { street: String, zip: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    id: u64,
    lines: Vec<(String, f64)>,
}

/// Sends one e-mail.
///
/// The body is plain text.
#[job(
    name = "shop.send_email",
    queue = "mail",
    idempotency_key = "mail-{to}-{subject}",
    alias = "shop.send_mail"
)]
async fn send_email(
    /// Recipient address.
    #[job(alias = "recipient")]
    to: String,
    subject: String,
    #[job(default = 3)] copies: u8,
    #[job(secret)] token: Option<String>,
) {
    let _ = (to, subject, copies, token);
}

/// Charges an order and ships it.
#[job(name = "shop.ship", version = 2, business_key = "order-{order}", strict)]
async fn ship(
    order: u64,
    items: Vec<Item>,
    shipping: Shipping,
    tags: BTreeMap<String, String>,
) -> Result<Receipt, std::io::Error> {
    let _ = (items, shipping, tags);
    Ok(Receipt { id: order, lines: Vec::new() })
}

/// Cleans up.
#[job(name = "shop.clean")]
async fn clean() {}

ratchet::lock_test!();
