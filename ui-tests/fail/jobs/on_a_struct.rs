use ratchet::jobs;

#[jobs]
struct Mailer {
    url: String,
}

fn main() {}
