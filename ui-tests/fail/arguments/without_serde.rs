use ratchet::job;

struct Invoice;

#[job]
async fn pay(invoice: Invoice) {
    drop(invoice);
}

fn main() {}
