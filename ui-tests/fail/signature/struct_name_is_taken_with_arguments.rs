use ratchet::job;

struct SendEmail {
    subject: String,
}

const _: fn(SendEmail) -> String = |it| it.subject;

#[job]
async fn send_email(to: String, copies: u32) {
    let _ = (to, copies);
}

fn main() {}
