//! The jobs of the next version. What the version before cannot read has a higher `version` or another name.

use ratchet::State;
use ratchet::prelude::*;
use serde::Deserialize;

use crate::Problem;
use crate::diary::Diary;

/// The arguments of the version before.
#[derive(Deserialize)]
struct Charge1 {
    number: u64,
    amount: u32,
}

fn from_version_1(old: Charge1) -> Charge {
    Charge { number: old.number, cents: format!("{}00", old.amount) }
}

/// Another type, and an upgrade function.
#[job(name = "shop.charge", version = 2, upgrade(1 => from_version_1))]
async fn charge(
    number: u64,
    cents: String,
    #[inject] State(diary): State<Diary>,
) -> Result<(), Problem> {
    check(cents == "1700")?;
    Ok(diary.write("ran", number)?)
}

/// A renamed argument, and a new one with a default.
#[job(name = "shop.mail", version = 2)]
async fn mail(
    number: u64,
    #[job(alias = "to")] recipient: String,
    #[job(default = "en")] language: String,
    #[inject] State(diary): State<Diary>,
) -> Result<(), Problem> {
    check(recipient == "ada@example.com" && (language == "en" || language == "de"))?;
    Ok(diary.write("ran", number)?)
}

/// An argument of a wider type, and one that was removed.
#[job(name = "shop.resize", version = 2)]
async fn resize(
    number: u64,
    width: u64,
    #[inject] State(diary): State<Diary>,
) -> Result<(), Problem> {
    check(width == 640)?;
    Ok(diary.write("ran", number)?)
}

/// Another name.
#[job(name = "shop.summary", alias = "shop.report")]
async fn summary(number: u64, #[inject] State(diary): State<Diary>) -> Result<(), Problem> {
    Ok(diary.write("ran", number)?)
}

#[job(name = "shop.ping")]
async fn ping(number: u64, #[inject] State(diary): State<Diary>) -> Result<(), Problem> {
    Ok(diary.write("ran", number)?)
}

/// A new job.
#[job(name = "shop.refund")]
async fn refund(number: u64, #[inject] State(diary): State<Diary>) -> Result<(), Problem> {
    Ok(diary.write("ran", number)?)
}

fn check(is_right: bool) -> Result<(), Problem> {
    if is_right { Ok(()) } else { Err("an argument has changed".into()) }
}

pub async fn submit(ratchet: &Ratchet, number: u64) -> Result<(), Problem> {
    let key = number.to_string();
    match number % 6 {
        0 => {
            let charge = Charge { number, cents: "1700".to_owned() };
            drop(ratchet.enqueue(charge).idempotency_key(key).await?);
        }
        1 => {
            let (recipient, language) = ("ada@example.com".to_owned(), "de".to_owned());
            let mail = Mail { number, recipient, language };
            drop(ratchet.enqueue(mail).idempotency_key(key).await?);
        }
        2 => {
            let resize = Resize { number, width: 640 };
            drop(ratchet.enqueue(resize).idempotency_key(key).await?);
        }
        3 => drop(ratchet.enqueue(Summary { number }).idempotency_key(key).await?),
        4 => drop(ratchet.enqueue(Refund { number }).idempotency_key(key).await?),
        _ => drop(ratchet.enqueue(Ping { number }).idempotency_key(key).await?),
    }
    Ok(())
}
