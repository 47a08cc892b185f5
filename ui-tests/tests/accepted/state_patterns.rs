//! Injected state can be taken apart like the state of web frameworks, and can be optional.
use ratchet::{State, job};

struct Db(u32);

#[job]
async fn count(#[inject] State(db): State<Db>, #[inject] cache: Option<State<String>>) -> u32 {
    db.0 + u32::from(cache.is_some())
}

#[test]
fn runs() {
    drop(count(State::new(Db(1)), None));
}
