use ratchet::classify;

#[classify]
pub enum PayError {
    #[do_not_retry]
    Declined,
}

fn main() {}
