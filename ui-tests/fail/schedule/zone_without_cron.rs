use ratchet::job;

#[job(tz = "Europe/Berlin")]
async fn report() {}

fn main() {}
