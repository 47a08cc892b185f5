use ratchet::job;

struct Receipt;

#[job]
async fn bill() -> Receipt {
    Receipt
}

fn main() {}
