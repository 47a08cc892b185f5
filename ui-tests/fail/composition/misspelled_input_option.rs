use ratchet::job;

#[job]
async fn print(#[input(stepp = "count")] count: u32) {
    let _ = count;
}

fn main() {}
