use ratchet::job;

#[job(alias = "ui-tests.send_email")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
