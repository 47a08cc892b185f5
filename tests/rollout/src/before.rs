//! The jobs of the version before.

use ratchet::State;
use ratchet::prelude::*;

use crate::Problem;
use crate::diary::Diary;

#[job(name = "shop.charge")]
async fn charge(
    number: u64,
    amount: u32,
    #[inject] State(diary): State<Diary>,
) -> Result<(), Problem> {
    check(amount == 17)?;
    Ok(diary.write("ran", number)?)
}

#[job(name = "shop.mail")]
async fn mail(
    number: u64,
    to: String,
    #[inject] State(diary): State<Diary>,
) -> Result<(), Problem> {
    check(to == "ada@example.com")?;
    Ok(diary.write("ran", number)?)
}

#[job(name = "shop.resize")]
async fn resize(
    number: u64,
    width: u32,
    height: u32,
    #[inject] State(diary): State<Diary>,
) -> Result<(), Problem> {
    check((width, height) == (640, 480))?;
    Ok(diary.write("ran", number)?)
}

#[job(name = "shop.report")]
async fn report(number: u64, #[inject] State(diary): State<Diary>) -> Result<(), Problem> {
    Ok(diary.write("ran", number)?)
}

#[job(name = "shop.ping")]
async fn ping(number: u64, #[inject] State(diary): State<Diary>) -> Result<(), Problem> {
    Ok(diary.write("ran", number)?)
}

fn check(is_right: bool) -> Result<(), Problem> {
    if is_right { Ok(()) } else { Err("an argument has changed".into()) }
}

pub async fn submit(ratchet: &Ratchet, number: u64) -> Result<(), Problem> {
    let key = number.to_string();
    let (to, amount) = ("ada@example.com".to_owned(), 17);
    match number % 5 {
        0 => drop(ratchet.enqueue(Charge { number, amount }).idempotency_key(key).await?),
        1 => drop(ratchet.enqueue(Mail { number, to }).idempotency_key(key).await?),
        2 => {
            let resize = Resize { number, width: 640, height: 480 };
            drop(ratchet.enqueue(resize).idempotency_key(key).await?);
        }
        3 => drop(ratchet.enqueue(Report { number }).idempotency_key(key).await?),
        _ => drop(ratchet.enqueue(Ping { number }).idempotency_key(key).await?),
    }
    Ok(())
}
