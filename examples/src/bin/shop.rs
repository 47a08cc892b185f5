//! A worker program with the commands of `ratchet`: `shop work`, `shop status`, `shop jobs enqueue shop.charge …`.
//!
//! The payment gateway is down while `SHOP_GATEWAY` is `down`.

use std::process::ExitCode;

use ratchet::prelude::*;

#[derive(Debug, thiserror::Error)]
#[error("no answer from {host}")]
struct NoAnswer {
    host: &'static str,
}

/// Charges an order.
#[job(name = "shop.charge", queue = "payments", max_retries = 0)]
async fn charge(order: u32, cents: u32, #[job(secret)] card: String) -> Result<String, NoAnswer> {
    if std::env::var("SHOP_GATEWAY").is_ok_and(|state| state == "down") {
        return Err(NoAnswer { host: "gateway.example" });
    }
    Ok(format!("order {order}: {cents} cents from a card of {} digits", card.len()))
}

/// Sends a message to a customer.
#[job(name = "shop.send_email", queue = "mail")]
async fn send_email(to: String, subject: String) -> String {
    format!("{subject} to {to}")
}

fn main() -> ExitCode {
    ratchet_cli::Program::new(async |builder| Ok(builder)).default_store("sqlite:shop.db").main()
}
