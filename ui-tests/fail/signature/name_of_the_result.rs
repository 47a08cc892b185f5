use ratchet::job;

#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt;

#[job]
async fn receipt() -> Result<Receipt, std::io::Error> {
    Ok(Receipt)
}

fn main() {}
