use ratchet::job;

struct Gateway;

#[job]
async fn pay(#[inject] gateway: Gateway) {
    drop(gateway);
}

fn main() {}
