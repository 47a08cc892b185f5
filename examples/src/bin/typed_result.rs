//! The caller of a job receives its output as the type that the job returns.

use ratchet::prelude::*;
use ratchet_examples::Scratch;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Quote {
    city: String,
    cents: u32,
}

/// Returns the price of a parcel.
#[job]
async fn price_parcel(city: String, grams: u32) -> Quote {
    Quote { city, cents: 390 + grams / 10 }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("typed-result").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let worker = ratchet.start().await?;
    let handle = ratchet.enqueue(PriceParcel { city: "Turin".to_owned(), grams: 1200 }).await?;
    let quote: Quote = handle.wait().await?;
    println!("a parcel to {} costs {} cents", quote.city, quote.cents);
    worker.stop().await;
    Ok(())
}
