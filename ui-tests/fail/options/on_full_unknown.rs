use ratchet::job;

#[job(hands_off = "pages", on_full = block)]
async fn crawl(url: String) {
    drop(url);
}

fn main() {}
