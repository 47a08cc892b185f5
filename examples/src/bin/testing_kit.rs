//! Tests jobs without a worker, a file or real waits: the test controls the clock.

use std::time::Duration;

use ratchet::prelude::*;
use ratchet::testing::Sandbox;
use ratchet::{State, assert_enqueued};

struct Weather {
    rain: std::sync::atomic::AtomicBool,
}

/// If it rains, schedules a notification for tomorrow. Otherwise, checks again in an hour.
#[job]
async fn remind(
    #[inject] ctx: JobContext,
    #[inject] weather: State<Weather>,
    name: String,
) -> Result<(), JobError> {
    if weather.rain.load(std::sync::atomic::Ordering::Relaxed) {
        ctx.enqueue(Notify { name, text: "take your umbrella".to_owned() })
            .delay(Duration::from_secs(24 * 3600))
            .await?;
        return Ok(());
    }
    Err(snooze(Duration::from_secs(3600)).into())
}

/// Prints a message for a person.
#[job]
async fn notify(name: String, text: String) {
    println!("{name}: {text}");
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The job function can be called directly.
    let ctx = JobContext::for_test();
    let rainy = || Weather { rain: true.into() };
    remind(ctx.clone(), State::new(rainy()), "Ada".to_owned())
        .await
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    assert_enqueued!(ctx, Notify { name: "Ada".to_owned(), text: "take your umbrella".to_owned() });
    println!("the bare function enqueued a notification");

    // The sandbox runs the whole pipeline on a controlled clock.
    let sandbox = Sandbox::builder().state(Weather { rain: false.into() }).build().await?;
    sandbox.enqueue(Remind { name: "Bob".to_owned() }).await?;
    println!("first drain: {:?}", sandbox.drain().await?);
    let weather: State<Weather> = sandbox.ratchet().state().expect("registered above");
    weather.rain.store(true, std::sync::atomic::Ordering::Relaxed);
    println!("a week later: {:?}", sandbox.drain_for(Duration::from_secs(7 * 24 * 3600)).await?);
    Ok(())
}
