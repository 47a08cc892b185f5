//! The health server: its responses, and clients that try to keep it busy.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use ratchet::prelude::*;
use ratchet::runtime::HealthServer;
use ratchet::{MemoryStore, State};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[job(name = "health_server.quick")]
async fn quick() {}

/// Blocks handlers until it is opened.
#[derive(Debug, Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    entered: AtomicBool,
}

impl Gate {
    fn pass(&self) {
        self.entered.store(true, Ordering::SeqCst);
        let open = self.open.lock().expect("not poisoned");
        drop(self.opened.wait_while(open, |open| !*open).expect("not poisoned"));
    }

    fn open(&self) {
        *self.open.lock().expect("not poisoned") = true;
        self.opened.notify_all();
    }
}

/// Blocks the thread of the handlers, which it must not do.
#[job(name = "health_server.block")]
async fn block(#[inject] gate: State<Gate>) {
    gate.pass();
}

async fn serve() -> (Ratchet, Worker, HealthServer) {
    let ratchet = Ratchet::builder(MemoryStore::new())
        .jobs([Quick::JOB, Block::JOB])
        .state(Gate::default())
        .config(|config| config.stall_after = Duration::from_millis(100))
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    let server = ratchet.serve_health("127.0.0.1:0").expect("listens");
    (ratchet, worker, server)
}

/// Sends bytes and returns the response: its first line, and everything.
async fn send(addr: SocketAddr, bytes: &[u8]) -> (String, String) {
    let mut stream = TcpStream::connect(addr).await.expect("connects");
    // The server may have refused the request before it was sent completely.
    let _ = stream.write_all(bytes).await;
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    let response = String::from_utf8(response).expect("text");
    (response.lines().next().unwrap_or_default().to_owned(), response)
}

async fn get(addr: SocketAddr, path: &str) -> (String, String) {
    send(addr, format!("GET {path} HTTP/1.1\r\nHost: {addr}\r\n\r\n").as_bytes()).await
}

fn body(response: &str) -> &str {
    response.split_once("\r\n\r\n").expect("a head").1
}

#[tokio::test]
async fn m_07_live_ready_and_metrics_are_served() {
    let (ratchet, worker, server) = serve().await;
    let addr = server.addr();
    ratchet.enqueue(Quick {}).await.expect("enqueues").wait().await.expect("succeeds");
    let (status, response) = get(addr, "/health/live").await;
    assert_eq!(status, "HTTP/1.1 200 OK");
    let health: serde_json::Value = serde_json::from_str(body(&response)).expect("JSON");
    assert_eq!(health["ok"], true);
    assert_eq!(health["checks"][1]["name"], "claim_loop");
    assert!(health["checks"][1]["age_seconds"].as_f64().expect("a number") < 10.0);
    assert_eq!(get(addr, "/health/ready?verbose=1").await.0, "HTTP/1.1 200 OK");

    let (status, response) = get(addr, "/metrics").await;
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(response.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    let started =
        "ratchet_job_started_total{queue=\"default\",job_name=\"health_server.quick\"} 1\n";
    assert!(body(&response).contains(started), "{response}");
    assert!(body(&response).contains("ratchet_queue_depth{queue=\"default\"} 0\n"), "is sampled");
    let (status, head) = send(addr, b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(status.contains("200") && body(&head).is_empty() && head.contains("Content-Length"));

    worker.stop().await;
    let (status, response) = get(addr, "/health/ready").await;
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
    assert!(response.contains("no worker is running"), "{response}");
    server.stop().await;
    TcpStream::connect(addr).await.expect_err("does not listen any more");
}

#[tokio::test]
async fn m_07_other_requests_are_refused() {
    let (_ratchet, worker, server) = serve().await;
    let addr = server.addr();
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1_000_000));
    let endless = "x".repeat(3_000_000);
    for (request, expected) in [
        ("GET / HTTP/1.1\r\n\r\n", "404"),
        ("GET /health HTTP/1.1\r\n\r\n", "404"),
        ("GET /health/live/../../etc/passwd HTTP/1.1\r\n\r\n", "404"),
        ("POST /health/live HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405"),
        ("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
        ("GET /metrics HTTP/3\r\n\r\n", "400"),
        ("\u{16}\u{3}\u{1}\r\n\r\n", "400"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"),
        (&long, "431"),
        (&endless, "431"),
    ] {
        let (status, _) = send(addr, request.as_bytes()).await;
        // The kernel may reset the connection of a client that does not stop to send.
        let is_reset = status.is_empty() && request.len() > 500_000;
        assert!(status.contains(expected) || is_reset, "{expected}: {status}");
    }
    assert_eq!(get(addr, "/health/live").await.0, "HTTP/1.1 200 OK");
    worker.stop().await;
}

#[tokio::test]
async fn m_07_clients_that_hold_connections_do_not_keep_probes_out() {
    let (_ratchet, worker, server) = serve().await;
    let addr = server.addr();
    let mut held = Vec::new();
    for number in 0..500 {
        let mut stream = TcpStream::connect(addr).await.expect("connects");
        // Some begin a request, and some send nothing at all.
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET /health/live HTTP/1.1\r\nX: ").await;
        }
        held.push(stream);
        if number % 50 == 0 {
            assert_eq!(get(addr, "/health/live").await.0, "HTTP/1.1 200 OK", "{number}");
        }
    }
    // The oldest was closed without a response.
    let mut rest = Vec::new();
    let _ = held[0].read_to_end(&mut rest).await;
    assert_eq!(rest, b"");
    assert_eq!(get(addr, "/health/ready").await.0, "HTTP/1.1 200 OK");
    worker.stop().await;
}

#[tokio::test]
async fn m_07_a_client_that_sends_slowly_is_cut_off() {
    let (_ratchet, worker, server) = serve().await;
    let mut stream = TcpStream::connect(server.addr()).await.expect("connects");
    stream.write_all(b"GET /health/live HTTP/1.1\r\nX: ").await.expect("writes");
    let mut response = String::new();
    // One byte per second would go on for hours.
    loop {
        if stream.write_all(b"x").await.is_err() {
            break;
        }
        let mut chunk = [0; 512];
        let read = tokio::time::timeout(Duration::from_secs(1), stream.read(&mut chunk)).await;
        match read {
            Ok(Ok(0) | Err(_)) => break,
            Ok(Ok(count)) => response.push_str(&String::from_utf8_lossy(&chunk[..count])),
            Err(_) => {}
        }
    }
    assert!(response.is_empty() || response.starts_with("HTTP/1.1 408 "), "{response}");
    worker.stop().await;
}

#[tokio::test]
async fn m_07_probes_are_answered_while_every_handler_thread_is_stuck() {
    let (ratchet, worker, server) = serve().await;
    let addr = server.addr();
    // This test is the only thread of the runtime, so the probe is sent from another one.
    let gate = ratchet.state::<Gate>().expect("is registered");
    let gate = Arc::clone(&gate.0);
    let opener = Arc::clone(&gate);
    let probe = std::thread::spawn(move || {
        while !gate.entered.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let status = runtime.expect("a runtime").block_on(async {
            let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
            loop {
                let (status, response) = get(addr, "/health/live").await;
                // Until the watchdog has seen it, the worker is live.
                if !status.contains("200") || tokio::time::Instant::now() > deadline {
                    let (metrics, _) = get(addr, "/metrics").await;
                    return (status, response, metrics);
                }
            }
        });
        opener.open();
        status
    });
    let job = ratchet.enqueue(Block {}).await.expect("enqueues");
    job.wait().await.expect("succeeds");
    let (status, response, metrics) = probe.join().expect("ends");
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
    assert!(response.contains("every handler thread is stuck"), "{response}");
    assert_eq!(metrics, "HTTP/1.1 200 OK", "with the last sample");
    worker.stop().await;
}
