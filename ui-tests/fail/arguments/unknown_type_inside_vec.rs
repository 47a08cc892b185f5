use ratchet::job;

#[job]
async fn pay(invoices: Vec<Invioce>) {
    drop(invoices);
}

fn main() {}
