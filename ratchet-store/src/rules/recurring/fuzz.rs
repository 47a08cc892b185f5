//! Property tests of cron expressions: any text is either refused or fires in order. `PROPTEST_CASES` sets the number
//! of cases.

use jiff::Timestamp;
use proptest::prelude::*;

use super::Cron;

/// Generates valid and invalid cron fields.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[0-9]{1,2}",
        3 => Just("*".to_owned()),
        2 => "\\*/[0-9]{1,3}",
        2 => "[0-9]{1,2}-[0-9]{1,2}(/[0-9]{1,2})?",
        2 => "[0-9]{1,2}(,[0-9]{1,2}){1,3}",
        1 => "(MON|tue|SUN|JAN|dec|L|W|[0-9]#[0-9]|[0-9]L|[0-9]{1,2}W|\\?)",
        1 => "[-*/,#LW?0-9]{0,6}",
    ]
}

fn expression() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => proptest::collection::vec(field(), 4..8).prop_map(|fields| fields.join(" ")),
        1 => "@[a-z]{1,10}",
        1 => "\\PC{0,60}",
    ]
}

fn zone() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("UTC".to_owned()),
        Just("Europe/Berlin".to_owned()),
        Just("Australia/Lord_Howe".to_owned()),
        Just("America/St_Johns".to_owned()),
        "\\PC{0,20}",
    ]
}

proptest! {
    #[test]
    fn t_01_any_text_is_refused_or_fires_in_order(
        expression in expression(), zone in zone(), from in 0_i64..4_102_444_800
    ) {
        let Ok(cron) = Cron::new(&expression, &zone) else { return Ok(()) };
        let mut now = Timestamp::from_second(from).expect("an instant");
        for _ in 0..4 {
            let Some(next) = cron.after(now) else { return Ok(()) };
            prop_assert!(next > now, "{expression} in {zone}: {next} after {now}");
            now = next;
        }
    }
}
