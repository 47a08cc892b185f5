use ratchet::DoNotRetry;

#[derive(DoNotRetry)]
pub union Bits {
    a: u32,
    b: f32,
}

fn main() {}
