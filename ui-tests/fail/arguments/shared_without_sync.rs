use ratchet::job;

use std::rc::Rc;

#[job]
async fn send_email(to: Rc<String>) {
    drop(to);
}

fn main() {}
