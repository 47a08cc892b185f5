use ratchet::job;

#[job(on_success = Report)]
async fn count() -> u32 {
    1
}

#[job]
async fn report(#[input] text: String) {
    drop(text);
}

fn main() {}
