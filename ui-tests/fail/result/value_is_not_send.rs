use ratchet::job;

use std::rc::Rc;

#[job]
async fn bill() -> Rc<u32> {
    Rc::new(5)
}

fn main() {}
