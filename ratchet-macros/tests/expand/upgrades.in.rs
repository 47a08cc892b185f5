#[job(version = 4, oldest = 2, upgrade(2 => from_v2, 3 => older::from_v3))]
async fn send_email(to: String) {
    drop(to);
}
