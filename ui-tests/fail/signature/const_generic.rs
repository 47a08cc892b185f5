use ratchet::job;

#[job]
async fn bill<const N: usize>(amounts: [u32; N]) {
    let _ = amounts;
}

fn main() {}
