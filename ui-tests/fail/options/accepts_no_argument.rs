use ratchet::job;

#[job(accepts = "pages")]
async fn refresh() {}

fn main() {}
