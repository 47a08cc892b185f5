use ratchet::jobs;

struct Service;

#[jobs]
impl Service {
    #[job(alias = "ui-tests-tests.service.charge")]
    async fn charge(&self, id: u32) {
        let _ = id;
    }
}

fn main() {}
