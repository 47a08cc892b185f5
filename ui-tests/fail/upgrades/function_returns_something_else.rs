use ratchet::job;

#[derive(serde::Deserialize)]
struct MailV1 {
    to: String,
}

fn from_v1(old: MailV1) -> String {
    old.to
}

#[job(version = 2, upgrade(1 => from_v1))]
async fn mail(to: String, cc: String) {
    drop((to, cc));
}

fn main() {}
