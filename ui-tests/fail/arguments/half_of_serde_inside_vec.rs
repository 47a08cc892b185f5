use ratchet::job;

#[derive(serde::Serialize)]
struct Half;

#[job]
async fn pay(invoices: Vec<Half>) {
    drop(invoices);
}

fn main() {}
