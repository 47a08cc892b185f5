use ratchet::job;

#[job(hands_off = "pages", hands_off = "pages")]
async fn crawl(url: String) {
    drop(url);
}

fn main() {}
