use ratchet::job;

#[job(business_key = "{year}{month}")]
async fn close_books(year: u32, month: u32) {
    drop((year, month));
}

fn main() {}
