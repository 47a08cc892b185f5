use ratchet::job;

#[job(ordered_by = "account-{account}", after_failure = wait)]
async fn apply_event(account: u64) {
    drop(account);
}

fn main() {}
