use ratchet::job;

#[derive(serde::Deserialize)]
struct MailV2 {
    to: String,
}

fn from_v2(old: MailV2) -> Mail {
    Mail { to: old.to, cc: String::new() }
}

#[job(version = 3, upgrade(2 => from_v2))]
async fn mail(to: String, cc: String) {
    drop((to, cc));
}

fn main() {}
