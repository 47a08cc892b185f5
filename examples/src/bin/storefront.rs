//! A shop on axum with the dashboard nested at `/ratchet`, behind the login of the shop. Orders arrive all the time.
//!
//! `scripts/quickstart --web` runs it. Log in as `ada` (admin) or `eve` (viewer), with the password `ratchet`.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Form, Request, State as Shared};
use axum::http::header;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use ratchet::prelude::*;
use ratchet_examples::Scratch;
use ratchet_web::{Accent, Access};

/// Charges the card of an order. Some gateways do not answer.
#[job(name = "shop.charge", queue = "payments", max_retries = 3)]
#[circuit_breaker(service = "payment-gateway")]
async fn charge(order: u64, cents: u32, #[job(secret)] card: String) -> Result<String, JobError> {
    tokio::time::sleep(Duration::from_millis(40 + order % 7 * 30)).await;
    match order % 23 {
        11 => Err(fatal("the card was declined").into()),
        3 | 17 => Err(std::io::Error::other("the gateway did not answer: connect timeout").into()),
        _ => Ok(format!("{cents} cents from a card of {} digits", card.len())),
    }
}

/// Sends the receipt of an order.
#[job(name = "shop.send_receipt", queue = "mail")]
async fn send_receipt(order: u64, to: String, #[inject] ctx: JobContext) {
    ctx.info(format!("connecting to mail.example for order {order}"));
    tokio::time::sleep(Duration::from_millis(120)).await;
    ctx.info(format!("sent to {to}"));
}

#[job(name = "shop.reserve", queue = "orders")]
async fn reserve(order: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(300)).await;
    order
}

#[job(name = "shop.pack", queue = "orders")]
async fn pack(#[input] order: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(700)).await;
    order
}

#[job(name = "shop.ship", queue = "orders")]
async fn ship(#[input] order: u64) -> String {
    format!("parcel {order}")
}

/// Writes the report of the night.
#[job(name = "shop.report", queue = "reports", cron = "30 2 * * *", tz = "Europe/Berlin")]
async fn report() {}

/// A user of the shop.
#[derive(Debug, Clone)]
struct User {
    name: String,
    operates: bool,
}

/// The sessions of the shop: what the cookie of a browser stands for.
type Sessions = Arc<Mutex<HashMap<String, User>>>;

#[derive(serde::Deserialize)]
struct Credentials {
    name: String,
    password: String,
}

const FORM: &str = "<!DOCTYPE html><html lang=\"en\"><title>Shop</title><h1>Shop</h1><form method=\"post\">\
    <p><label>Name <input name=\"name\" value=\"ada\"></label></p>\
    <p><label>Password <input name=\"password\" type=\"password\"></label></p><button>Log in</button></form>";

async fn log_in(Shared(sessions): Shared<Sessions>, Form(user): Form<Credentials>) -> Response {
    let known = matches!(user.name.as_str(), "ada" | "eve") && user.password == "ratchet";
    if !known {
        return (axum::http::StatusCode::UNAUTHORIZED, Html(FORM)).into_response();
    }
    // A shop would store a hash of the password. The keys of `RandomState` are random, so that the session is too.
    let random = || RandomState::new().build_hasher().finish();
    let session = format!("{:016x}{:016x}", random(), random());
    let cookie = format!("shop-session={session}; Path=/; HttpOnly; SameSite=Strict");
    let user = User { operates: user.name == "ada", name: user.name };
    sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(session, user);
    ([(header::SET_COOKIE, cookie)], Redirect::to("/ratchet")).into_response()
}

/// Adds the user of the session to the request, which the dashboard reads.
async fn add_user(
    Shared(sessions): Shared<Sessions>,
    mut request: Request,
    next: Next,
) -> Response {
    let cookies = request.headers().get(header::COOKIE).and_then(|cookies| cookies.to_str().ok());
    let session =
        cookies.unwrap_or_default().split("; ").find_map(|it| it.strip_prefix("shop-session="));
    let user = session.and_then(|session| {
        sessions.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    });
    match user {
        Some(user) => request.extensions_mut().insert(user),
        None if request.uri().path().starts_with("/ratchet") => {
            return Redirect::to("/").into_response();
        }
        None => None,
    };
    next.run(request).await
}

/// Submits an order every now and then.
async fn traffic(ratchet: Ratchet) -> anyhow::Result<()> {
    for order in 1.. {
        let card = "4111111111111111".to_owned();
        ratchet
            .enqueue(Charge { order, cents: 4200, card })
            .business_key(format!("order-{order}"))
            .await?;
        let to = format!("customer-{order}@example.com");
        ratchet.enqueue(SendReceipt { order, to }).delay(Duration::from_secs(2)).await?;
        if order % 5 == 0 {
            let mut parcel = ratchet.workflow(format!("order-{order}"));
            let reserve = parcel.first("reserve", Reserve { order });
            let pack = parcel.step("pack", Pack {}, |step| step.after(&reserve));
            parcel.step("ship", Ship {}, |step| step.after(&pack));
            parcel.await?;
        }
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("storefront").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let worker = ratchet.start().await?;
    let ops = ratchet_web::router(&ratchet)
        .access(|request| match request.extensions.get::<User>() {
            Some(user) if user.operates => Access::admin(&user.name),
            Some(user) => Access::viewer(&user.name),
            None => Access::denied(),
        })
        .title("shop, demo")
        .accent(Accent::Green)
        .build();
    let sessions = Sessions::default();
    let app = axum::Router::new()
        .route("/", get(|| async { Html(FORM) }).post(log_in))
        .with_state(Arc::clone(&sessions))
        .nest("/ratchet", ops)
        .layer(from_fn_with_state(sessions, add_user));
    let address = std::env::var("SHOP_ADDRESS").unwrap_or_else(|_| "127.0.0.1:4000".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!(
        "http://{}/ (name ada or eve, password ratchet; stop with Ctrl-C)",
        listener.local_addr()?
    );
    tokio::spawn(traffic(ratchet));
    tokio::select! {
        result = axum::serve(listener, app) => result?,
        _ = tokio::signal::ctrl_c() => {}
    }
    worker.stop().await;
    Ok(())
}
