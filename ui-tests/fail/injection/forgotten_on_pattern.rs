use ratchet::{State, job};

struct Gateway;

#[job]
async fn pay(State(gateway): State<Gateway>) {
    drop(gateway);
}

fn main() {}
