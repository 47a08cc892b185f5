use ratchet::{State, job};

struct Gateway;

#[job]
async fn pay(gateway: State<Gateway>) {
    drop(gateway);
}

fn main() {}
