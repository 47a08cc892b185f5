use ratchet::job;

#[derive(serde::Serialize, serde::Deserialize)]
struct Mailer;

impl Mailer {
    #[job]
    async fn start(mailer: Self) {
        drop(mailer);
    }
}

fn main() {}
