use ratchet::job;

#[job(on_full = fail)]
async fn crawl(url: String) {
    drop(url);
}

fn main() {}
