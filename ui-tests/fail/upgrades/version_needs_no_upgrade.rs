use ratchet::job;

#[derive(serde::Deserialize)]
struct MailV1 {
    to: String,
}

fn from_v1(old: MailV1) -> Mail {
    Mail { to: old.to, cc: String::new() }
}

#[job(version = 2, upgrade(1 => from_v1, 2 => from_v1))]
async fn mail(to: String, cc: String) {
    drop((to, cc));
}

fn main() {}
