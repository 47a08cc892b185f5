use ratchet::job;

#[job(ordered_by = "account-{acount}")]
async fn apply_event(account: u64) {
    drop(account);
}

fn main() {}
