//! Lists of jobs that end before everything was searched.

use ratchet_core::{JobId, Ratchet};
use ratchet_memory::MemoryStore;
use ratchet_store::Store as _;
use ratchet_store::model::{JobSpec, NewJob, Page};
use ratchet_web::Access;
use uuid::Uuid;

use crate::html;
use crate::site::Site;

// spec: O-14
#[tokio::test]
async fn o_14_an_empty_page_says_how_many_jobs_were_searched() {
    let store = MemoryStore::new();
    let ratchet = Ratchet::builder(store.clone()).jobs([]).build().await.expect("builds");
    let id = |number: u128| {
        JobId::from_uuid(Uuid::from_u128(0x019f_0000_0000_7000_8000_0000_0000_0000 + number))
    };
    let mut rare = JobSpec::new("rare", b"{}".to_vec());
    rare.tenant = Some("acme".to_owned());
    let mut jobs = vec![NewJob::new(id(0), rare)];
    for number in 1..=u128::from(Page::EXAMINED) {
        jobs.push(NewJob::new(id(number), JobSpec::new("frequent", b"{}".to_vec())));
    }
    store.insert(jobs).await.expect("inserts");
    let site = Site::new(&ratchet, Access::admin("ada"));
    let page = site.get("/jobs?filter=tenant%3Aacme").await;
    html::check("/jobs", &page.body);
    assert!(page.body.contains("None of these 10,000 jobs matches"), "{}", page.body);
    let next = format!("jobs?filter=tenant%3Aacme&amp;after={}", id(1));
    assert!(page.body.contains(&next), "{}", page.body);
    let page = site.get(&format!("/jobs?filter=tenant%3Aacme&after={}", id(1))).await;
    assert!(page.body.contains(&id(0).to_string()), "{}", page.body);
    let none = site.get("/jobs?filter=tenant%3Aacme%20state%3Afailed").await;
    assert!(none.body.contains("No job matches."), "{}", none.body);
}
