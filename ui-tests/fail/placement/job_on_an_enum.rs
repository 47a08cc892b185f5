use ratchet::job;

#[job]
enum Email {
    Welcome,
}

fn main() {}
