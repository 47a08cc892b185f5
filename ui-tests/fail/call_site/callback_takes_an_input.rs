use ratchet::{Ratchet, job};

#[job]
async fn count(file: String) -> u64 {
    file.len() as u64
}

#[job]
async fn print(#[input] rows: u64) {
    println!("{rows}");
}

async fn submit(ratchet: &Ratchet) {
    let _ = ratchet.enqueue(Count { file: "a.csv".into() }).on_success(Print {}).await;
}

fn main() {
    let _ = submit;
}
