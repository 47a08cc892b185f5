use ratchet::job;

struct Receipt;

#[job]
async fn bill() -> Result<Receipt, std::io::Error> {
    Ok(Receipt)
}

fn main() {}
