use ratchet::job;

#[job]
async fn pay() -> Result<Recepit, std::io::Error> {
    todo!()
}

fn main() {}
