use ratchet::job;

#[job(after_failure = skip)]
async fn apply_event(account: u64) {
    drop(account);
}

fn main() {}
