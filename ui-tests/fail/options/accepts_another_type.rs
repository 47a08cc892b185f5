use ratchet::job;

#[job(accepts = "pages")]
async fn index(page: String) {
    drop(page);
}

fn main() {}
