use ratchet::job;

#[job]
async fn call(f: Box<dyn Fn() + Send>) {
    f();
}

fn main() {}
