use ratchet::job;

#[job]
async fn pay(invoice: Invioce) {
    drop(invoice);
}

fn main() {}
