use ratchet::job;

#[job(backlog_limit = 1000)]
async fn index(url: String) {
    drop(url);
}

fn main() {}
