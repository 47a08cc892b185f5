use ratchet::job;

#[job]
async fn bill<T: Send + 'static>(amount: T) {
    drop(amount);
}

fn main() {}
