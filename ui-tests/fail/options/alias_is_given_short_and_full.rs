use ratchet::job;

#[job(alias = "mail", alias = "ui-tests-tests.mail")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
