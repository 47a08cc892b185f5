//! A small TCP proxy in front of the server that simulates network faults: delays, silence, half-open and closed
//! connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::Problem;

/// The current state of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weather {
    /// The delay of every chunk of data.
    pub delay: Duration,
    /// Data is held back until this is reset.
    pub silent: bool,
    /// Connections with a lower number are closed.
    pub cut_before: u64,
    /// Connections with a lower number pass no more data and stay open.
    pub forgotten_before: u64,
}

#[derive(Debug)]
pub struct Proxy {
    pub port: u16,
    weather: watch::Sender<Weather>,
    next: Arc<AtomicU64>,
}

impl Proxy {
    /// Starts a proxy that forwards connections to a local port.
    pub async fn start(to: u16) -> Result<Self, Problem> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let fair =
            Weather { delay: Duration::ZERO, silent: false, cut_before: 0, forgotten_before: 0 };
        let (weather, seen) = watch::channel(fair);
        let next = Arc::new(AtomicU64::new(0));
        let numbers = Arc::clone(&next);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(pass(client, to, number, seen.clone()));
            }
        });
        Ok(Self { port, weather, next })
    }

    pub fn change(&self, change: impl FnOnce(&mut Weather)) {
        self.weather.send_modify(change);
    }

    /// Closes all current connections.
    pub fn cut(&self) {
        let now = self.next.load(Ordering::Relaxed);
        self.change(|weather| weather.cut_before = now);
    }

    /// Drops all current connections silently, like a firewall. Neither side is notified.
    pub fn forget(&self) {
        let now = self.next.load(Ordering::Relaxed);
        self.change(|weather| weather.forgotten_before = now);
    }
}

async fn pass(client: TcpStream, to: u16, number: u64, weather: watch::Receiver<Weather>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", to)).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut cut = weather.clone();
    tokio::select! {
        () = copy(from_client, to_server, number, weather.clone()) => {}
        () = copy(from_server, to_client, number, weather) => {}
        _ = cut.wait_for(|weather| number < weather.cut_before) => {}
    }
}

/// Copies bytes in one direction, subject to the state of the network.
async fn copy(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    number: u64,
    mut weather: watch::Receiver<Weather>,
) {
    let mut piece = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut piece).await;
        if weather.borrow().forgotten_before > number {
            // Do not forward the end of the stream either; only `cut` closes this connection.
            return std::future::pending().await;
        }
        let Ok(length @ 1..) = read else { return };
        let delay = weather.borrow().delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if weather.wait_for(|weather| !weather.silent).await.is_err() {
            return;
        }
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
