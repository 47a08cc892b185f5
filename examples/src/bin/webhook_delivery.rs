//! Delivery of signed webhooks behind a circuit breaker: while the receiver fails, deliveries wait and use no attempts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hmac::{Hmac, KeyInit, Mac};
use ratchet::State;
use ratchet::prelude::*;
use ratchet_examples::Scratch;
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Where deliveries go, and the secret that the receiver shares.
struct Receiver {
    address: String,
    secret: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
#[error("the receiver has not accepted the delivery")]
struct NotAccepted;

/// Sends one event. The id of the job is the id of the delivery, so the receiver can recognize a repeat.
#[job(queue = "webhooks", max_retries = 20, backoff = fixed("5ms"))]
#[circuit_breaker(service = "receiver", min_calls = 3, window = 4, open_for = "50ms", probes = 1)]
async fn deliver(
    #[inject] ctx: JobContext,
    #[inject] State(receiver): State<Receiver>,
    body: String,
) -> Result<(), JobError> {
    let signature = sign(&receiver.secret, body.as_bytes());
    let request = format!(
        "POST /hook HTTP/1.1\r\nHost: receiver\r\nConnection: close\r\nX-Delivery: {}\r\n\
         X-Signature: sha256={signature}\r\nContent-Length: {}\r\n\r\n{body}",
        ctx.job_id(),
        body.len()
    );
    let mut connection = TcpStream::connect(&receiver.address).await?;
    connection.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    if answer.starts_with("HTTP/1.1 204") { Ok(()) } else { Err(NotAccepted.into()) }
}

fn sign(secret: &[u8], body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length is accepted");
    mac.update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A receiver that fails the first requests, and then verifies and accepts every delivery.
async fn receive(listener: TcpListener, secret: Vec<u8>, failures: u32, accepted: Arc<AtomicU32>) {
    let mut seen = 0;
    while let Ok((mut connection, _)) = listener.accept().await {
        let mut request = vec![0; 4096];
        let length = connection.read(&mut request).await.unwrap_or(0);
        let request = String::from_utf8_lossy(&request[..length]).into_owned();
        seen += 1;
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or_default();
        let status = if seen <= failures {
            "503 Service Unavailable"
        } else if head.contains(&format!("sha256={}", sign(&secret, body.as_bytes()))) {
            accepted.fetch_add(1, Ordering::Relaxed);
            "204 No Content"
        } else {
            "401 Unauthorized"
        };
        let _ = connection.write_all(format!("HTTP/1.1 {status}\r\n\r\n").as_bytes()).await;
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("webhook-delivery").await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let receiver =
        Receiver { address: listener.local_addr()?.to_string(), secret: b"shared".to_vec() };
    let accepted = Arc::new(AtomicU32::new(0));
    tokio::spawn(receive(listener, receiver.secret.clone(), 6, Arc::clone(&accepted)));

    let ratchet =
        Ratchet::builder(scratch.store.clone()).concurrency(1).state(receiver).build().await?;
    let mut events = ratchet.events();
    let worker = ratchet.start().await?;
    let orders = (1..=20).map(|order| Deliver { body: format!(r#"{{"order":{order}}}"#) });
    let handles = ratchet.enqueue_many(orders).await?;
    for handle in handles {
        handle.wait().await?;
    }
    worker.stop().await;
    let mut opened = false;
    while let Some(event) = events.try_next() {
        opened |= matches!(event, ratchet::Event::BreakerOpened { .. });
    }
    println!("the breaker opened: {opened}");
    println!("accepted with a valid signature: {}", accepted.load(Ordering::Relaxed));
    Ok(())
}
