//! A chain with typed outputs: each step takes the output of the previous step, checked by the compiler.

use ratchet::prelude::*;
use ratchet_examples::Scratch;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Rows(Vec<String>);

#[derive(Debug, Serialize, Deserialize)]
struct Totals {
    rows: usize,
    sum: u64,
}

/// Reads the source.
#[job]
async fn extract(source: String) -> Rows {
    println!("extract: {source}");
    Rows(vec!["3".into(), "4".into(), "35".into()])
}

/// Sums the rows. `chain(Extract { .. }).then(Sum {})` compiles because `sum` takes `Rows`.
#[job]
async fn sum(#[input] rows: Rows) -> Result<Totals, JobError> {
    let numbers: Vec<u64> = rows.0.iter().map(|row| row.parse()).collect::<Result<_, _>>()?;
    println!("sum: {} rows", numbers.len());
    Ok(Totals { rows: numbers.len(), sum: numbers.iter().sum() })
}

/// Writes the result.
#[job]
async fn load(#[input] totals: Totals, table: String) -> String {
    format!("{table}: {} rows, {} in all", totals.rows, totals.sum)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("etl_chain").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let worker = ratchet.start().await?;
    let chain = ratchet
        .chain(Extract { source: "sales.csv".into() })
        .then(Sum {})
        .then(Load { table: "sales".into() })
        .named("etl")
        .await?;
    println!("load: {}", chain.wait().await?);
    print!("{}", chain.group().to_text().await?);
    worker.stop().await;
    Ok(())
}
