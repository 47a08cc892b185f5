//! A small TCP proxy in front of the server, and what a network can do: be slow, be silent, forget connections, cut them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::Problem;

/// How the network is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weather {
    /// Every piece takes this long.
    pub delay: Duration,
    /// Nothing passes; it is held back and passes later.
    pub silent: bool,
    /// Connections older than this number are cut.
    pub cut_before: u64,
    /// Connections older than this number are forgotten: nothing passes any more, and nobody is told.
    pub forgotten_before: u64,
}

#[derive(Debug)]
pub struct Proxy {
    pub port: u16,
    weather: watch::Sender<Weather>,
    next: Arc<AtomicU64>,
}

impl Proxy {
    /// Passes connections on to a port of this machine.
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

    /// Cuts every connection there is.
    pub fn cut(&self) {
        let now = self.next.load(Ordering::Relaxed);
        self.change(|weather| weather.cut_before = now);
    }

    /// Forgets every connection there is, as a firewall does: neither side hears of it.
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

/// Moves bytes one way, as the weather lets it.
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
            // Not even an end is told; only a cut closes this one.
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
