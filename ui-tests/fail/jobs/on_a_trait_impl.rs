use ratchet::jobs;

struct Mailer;

#[jobs]
impl Drop for Mailer {
    fn drop(&mut self) {}
}

fn main() {}
