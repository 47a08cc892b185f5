//! Measures what signing and encryption cost: backlogs of plain, signed and encrypted jobs are drained side by side in one
//! run, with arguments of 64 bytes and of 1 KiB. Prints jobs per second, the ratio to plain, and the bytes of a payload.
//!
//! `cargo run --release --bin protected [JOBS] [ROUNDS] [CONCURRENCY]`

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ratchet::security::{Encrypt, Key, Keyring, Purpose};
use ratchet::{Ratchet, Store, job};
use ratchet_bench_pg::Server;
use ratchet_pg::PgStore;
use ratchet_store::model::{Filter, PageRequest};

static RAN: AtomicUsize = AtomicUsize::new(0);

#[job(name = "bench.text")]
async fn text(text: String) {
    let _ = text;
    RAN.fetch_add(1, Ordering::Relaxed);
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = |or| args.next().and_then(|n| n.parse().ok()).unwrap_or(or);
    let (jobs, rounds, concurrency) = (number(50_000), number(3), number(500));
    let concurrency = u32::try_from(concurrency).expect("fits");
    let server = Server::start();
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let key = |id, purpose| Key::generate(id, purpose).expect("a key");
    let ring = |keys: Vec<Key>| Keyring::new(keys).expect("a keyring");
    let signing = ring(vec![key("s1", Purpose::Sign)]);
    let both = ring(vec![key("s1", Purpose::Sign), key("e1", Purpose::Encrypt)]);
    let builder = || Ratchet::builder(store.clone()).concurrency(concurrency);
    let plain = builder().build().await.expect("builds");
    let signed = builder().keyring(signing).build().await.expect("builds");
    let encrypted = builder().keyring(both).encrypt(Encrypt::All).build().await.expect("builds");
    let runtimes = [("plain", &plain), ("signed", &signed), ("encrypted and signed", &encrypted)];
    for size in [64, 1024] {
        // `{"text":"…"}` has 11 bytes besides the text.
        let argument = "x".repeat(size - 11);
        let mut totals = [Duration::ZERO; 3];
        let (mut submits, mut bytes) = ([Duration::ZERO; 3], [0; 3]);
        for _ in 0..rounds {
            for (index, (_, ratchet)) in runtimes.iter().enumerate() {
                let started = Instant::now();
                for _ in 0..jobs / 1000 {
                    let many = (0..1000).map(|_| Text { text: argument.clone() });
                    ratchet.enqueue_many(many).await.expect("enqueues");
                }
                submits[index] += started.elapsed();
                let page = PageRequest { before: None, limit: 1 };
                let newest = store.list(&Filter::any(), page).await.expect("reads").jobs;
                bytes[index] = newest[0].spec.payload.len();
                RAN.store(0, Ordering::Relaxed);
                let started = Instant::now();
                let worker = ratchet.start().await.expect("starts");
                while RAN.load(Ordering::Relaxed) < jobs / 1000 * 1000 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                totals[index] += started.elapsed();
                worker.stop().await;
            }
        }
        println!("arguments of {size} bytes, {rounds} rounds of {jobs} jobs");
        for (index, (name, _)) in runtimes.iter().enumerate() {
            let rate = |took: Duration| (jobs * rounds) as f64 / took.as_secs_f64();
            let ratio = |all: &[Duration; 3]| all[0].as_secs_f64() / all[index].as_secs_f64();
            println!(
                "  {name:<22} drain {:>7.0} jobs/s ({:.2})   submit {:>7.0} jobs/s ({:.2})   payload {} bytes",
                rate(totals[index]),
                ratio(&totals),
                rate(submits[index]),
                ratio(&submits),
                bytes[index]
            );
        }
    }
    store.close().await;
}
