//! A proxy that cuts a connection at a chosen request: before the server receives it, or after it has answered.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ratchet_pg::PgOptions;
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// What happens to the request at which a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server never receives it.
    Before,
    /// The server executes it, and its reply is lost.
    After,
    /// The server receives it later, from [`Cutter::deliver`]. Until then, its transaction stays open.
    Late,
}

#[derive(Debug, Default)]
struct State {
    /// How many requests pass before the cut.
    armed: Option<(usize, Cut)>,
    held: Option<(UnixStream, Vec<u8>)>,
}

/// Forwards connections to the socket of a server. A request is everything that a client sends until it waits for the
/// server.
#[derive(Debug)]
pub(crate) struct Cutter {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Cutter {
    pub(crate) async fn to(socket: PathBuf) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("a port");
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (shared, socket) = (Arc::clone(&shared), socket.clone());
                tokio::spawn(async move {
                    // A server that is down closes the connection, and so does every cut.
                    if let Ok(server) = UnixStream::connect(socket).await {
                        let _ = Link { client, server, shared }.forward().await;
                    }
                });
            }
        });
        Self { address, state }
    }

    pub(crate) fn options(&self, database: &str) -> PgOptions {
        let connect = PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(self.address.port())
            .username("postgres")
            .database(database)
            .ssl_mode(sqlx::postgres::PgSslMode::Disable);
        PgOptions::with(connect)
    }

    /// Cuts the connection of a later request: `after` requests pass before it.
    pub(crate) fn arm(&self, after: usize, cut: Cut) {
        self.state.lock().expect("a state").armed = Some((after, cut));
    }

    /// Returns whether the cut was made, and disarms.
    pub(crate) fn has_cut(&self) -> bool {
        self.state.lock().expect("a state").armed.take().is_none()
    }

    /// Returns whether the cut is still to be made.
    pub(crate) fn is_armed(&self) -> bool {
        self.state.lock().expect("a state").armed.is_some()
    }

    /// Sends the held request to the server and waits for its reply. Returns whether it was a commit.
    pub(crate) async fn deliver(&self) -> bool {
        let held = self.state.lock().expect("a state").held.take();
        let (mut server, request) = held.expect("a request is held");
        server.write_all(&request).await.expect("the server is up");
        let mut replies = Messages::default();
        while replies.count(b'Z') == 0 {
            assert!(server.read_buf(&mut replies.0).await.expect("a reply") > 0, "it answers");
        }
        request.windows(6).any(|word| word == b"COMMIT")
    }
}

struct Link {
    client: TcpStream,
    server: UnixStream,
    shared: Arc<Mutex<State>>,
}

impl Link {
    async fn forward(mut self) -> std::io::Result<()> {
        self.start_up().await?;
        let (mut requests, mut replies) = (Messages::default(), Messages::default());
        let mut unanswered = 1;
        loop {
            tokio::select! {
                read = self.server.read_buf(&mut replies.0) => {
                    if read? == 0 {
                        return Ok(());
                    }
                    unanswered -= replies.pass(&mut self.client, b"Z").await?;
                }
                read = self.client.read_buf(&mut requests.0) => {
                    if read? == 0 {
                        return Ok(());
                    }
                    while let Some(request) = requests.take_until(b"SQX") {
                        unanswered += 1;
                        match self.next() {
                            None => self.server.write_all(&request).await?,
                            Some(Cut::Before) => return Ok(()),
                            Some(Cut::Late) => {
                                let held = Some((self.server, request));
                                self.shared.lock().expect("a state").held = held;
                                return Ok(());
                            }
                            Some(Cut::After) => {
                                self.server.write_all(&request).await?;
                                while replies.count(b'Z') < unanswered {
                                    if self.server.read_buf(&mut replies.0).await? == 0 {
                                        break;
                                    }
                                }
                                return Ok(());
                            }
                        }
                    }
                }
            }
        }
    }

    /// Counts a request. Returns how to cut it, if this is the one.
    fn next(&self) -> Option<Cut> {
        let mut state = self.shared.lock().expect("a state");
        match &mut state.armed {
            Some((0, cut)) => {
                let cut = *cut;
                state.armed = None;
                Some(cut)
            }
            Some((after, _)) => {
                *after -= 1;
                None
            }
            None => None,
        }
    }

    /// Forwards the first message, which has no type.
    async fn start_up(&mut self) -> std::io::Result<()> {
        let length = self.client.read_u32().await?;
        let mut message = vec![0; length as usize - 4];
        self.client.read_exact(&mut message).await?;
        self.server.write_u32(length).await?;
        self.server.write_all(&message).await
    }
}

/// Bytes of a stream of messages: a type, a length that includes itself, and a body.
#[derive(Default)]
struct Messages(Vec<u8>);

impl Messages {
    /// Returns the types and ends of the complete messages.
    fn complete(&self) -> impl Iterator<Item = (u8, usize)> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let kind = *self.0.get(start)?;
            let length = self.0.get(start + 1..start + 5)?.try_into().expect("four bytes");
            let end = start + 1 + u32::from_be_bytes(length) as usize;
            start = end;
            (end <= self.0.len()).then_some((kind, end))
        })
    }

    fn count(&self, kind: u8) -> usize {
        self.complete().filter(|(other, _)| *other == kind).count()
    }

    /// Removes the bytes up to and including the first message of one of these types.
    fn take_until(&mut self, kinds: &[u8]) -> Option<Vec<u8>> {
        let (_, end) = self.complete().find(|(kind, _)| kinds.contains(kind))?;
        Some(self.0.drain(..end).collect())
    }

    /// Forwards the complete messages. Returns how many are of one of these types.
    async fn pass(&mut self, to: &mut TcpStream, kinds: &[u8]) -> std::io::Result<usize> {
        let complete: Vec<_> = self.complete().collect();
        let end = complete.last().map_or(0, |(_, end)| *end);
        to.write_all(&self.0[..end]).await?;
        self.0.drain(..end);
        Ok(complete.iter().filter(|(kind, _)| kinds.contains(kind)).count())
    }
}
