use ratchet::job;

#[job(ordered_by = "account-{account}", concurrency_limit = 2)]
async fn apply_event(account: u64) {
    drop(account);
}

fn main() {}
