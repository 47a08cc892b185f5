//! Two jobs with the same name. This is a separate program because the registry collects all jobs of a program.
#![allow(clippy::unused_async)] // these jobs do not await anything

use ratchet::Job;
use ratchet::definition::{Registration, Registry};

mod first {
    #[ratchet::job(name = "clash.same")]
    pub(super) async fn one() {}
}

mod second {
    #[ratchet::job(name = "clash.other", alias = "clash.same")]
    pub(super) async fn two() {}
}

#[test]
fn two_jobs_of_one_name_are_listed_with_both_places() {
    let jobs = [Registration::of::<first::One>(), Registration::of::<second::Two>()];
    let error = Registry::new(jobs).expect_err("they clash").to_string();
    for place in [first::One::DEF.location, second::Two::DEF.location] {
        assert!(error.contains(&place.to_string()), "{error}");
    }
    assert!(error.contains("`clash.same`"), "{error}");
}

#[test]
fn the_collected_registry_refuses_them_too() {
    let error = Registry::collect().expect_err("they clash");
    assert_eq!(error.names, ["clash.same"]);
}
