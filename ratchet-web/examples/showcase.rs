//! Serves the dashboard of a shop with jobs in every state, for screenshots and for looking around. The address is the
//! only argument: `cargo run -p ratchet-jobs-web --example showcase -- 127.0.0.1:4000`.

#![allow(clippy::print_stdout, reason = "a program")]

#[path = "../tests/web/inventory.rs"]
mod inventory;
#[path = "../tests/web/shop.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod shop;

use ratchet_web::{Accent, Access};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4000".to_owned());
    let shop = shop::Shop::open().await;
    let operation = inventory::add(&shop).await;
    let ops = ratchet_web::router(shop.ratchet())
        .access(|_| Access::admin("ada@example.com"))
        .title("shop, staging")
        .accent(Accent::Orange)
        .build();
    let listener = tokio::net::TcpListener::bind(&address).await?;
    println!("succeeded {}", shop.succeeded);
    println!("failed {}", shop.failed);
    println!("waiting {}", shop.waiting);
    println!("retrying {}", shop.retrying);
    println!("workflow {}", shop.workflow);
    println!("batch {}", shop.batch);
    println!("operation {operation}");
    println!("http://{}/ratchet/overview", listener.local_addr()?);
    let app = axum::Router::new().nest("/ratchet", ops);
    axum::serve(listener, app).await?;
    Ok(())
}
