use ratchet::job;

#[job(alias = "ui-tests-tests.send_email")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
