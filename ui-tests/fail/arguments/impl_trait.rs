use ratchet::job;

#[job]
async fn call(f: impl Fn() + Send + 'static) {
    f();
}

fn main() {}
