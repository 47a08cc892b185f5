//! A network that forgets connections without a word: both ends believe in them, and nothing passes any more.

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ratchet_core::model::{Due, JobSpec, NewJob, OnTaken};
use ratchet_core::store::Store;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::{PgOptions, PgStore};
use support::OwnServer;

/// Passes connections on to a socket, until they are forgotten.
struct Network {
    port: u16,
    made: Arc<AtomicUsize>,
    forgotten: Arc<AtomicUsize>,
}

impl Network {
    fn to(socket: PathBuf) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let (made, forgotten) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (count, gone) = (Arc::clone(&made), Arc::clone(&forgotten));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let server = UnixStream::connect(&socket).expect("the server is up");
                let (back, there) = (client.try_clone(), server.try_clone());
                let (back, there) = (back.expect("a socket"), there.expect("a socket"));
                let (gone, also) = (Arc::clone(&gone), Arc::clone(&gone));
                std::thread::spawn(move || pass(client, there, number, &gone));
                std::thread::spawn(move || pass_back(server, back, number, &also));
            }
        });
        Self { port, made, forgotten }
    }

    fn forget_all(&self) {
        self.forgotten.store(self.made.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}

macro_rules! passing {
    ($name:ident, $from:ty, $to:ty) => {
        fn $name(mut from: $from, mut to: $to, number: usize, forgotten: &AtomicUsize) {
            let mut piece = vec![0; 8192];
            while let Ok(length @ 1..) = from.read(&mut piece) {
                // What a forgotten connection says is heard by nobody.
                if number >= forgotten.load(Ordering::SeqCst)
                    && to.write_all(&piece[..length]).is_err()
                {
                    return;
                }
            }
        }
    };
}
passing!(pass, TcpStream, UnixStream);
passing!(pass_back, UnixStream, TcpStream);

fn job(ids: &IdSource) -> NewJob {
    let spec = JobSpec::new("test.silence", b"{}".to_vec());
    NewJob { id: ids.job(), spec, due: Due::Now, on_taken: OnTaken::Refuse }
}

// spec: X-08
#[tokio::test(flavor = "multi_thread")]
async fn x_08_connections_that_are_half_open_are_given_up() {
    let server = OwnServer::start("");
    let network = Network::to(server.folder().join(".s.PGSQL.5432"));
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", network.port);
    let short = Duration::from_millis(300);
    let options = PgOptions::new(&url).expect("a URL").connections(4);
    let store = PgStore::open(options.patience(short).statement_timeout(short)).await;
    let store = store.expect("opens");
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    store.insert(vec![job(&ids)]).await.expect("inserts");
    // As many as there are connections, and more: none of them may be lost for good.
    for _ in 0..3 {
        network.forget_all();
        let again = async { while store.insert(vec![job(&ids)]).await.is_err() {} };
        let answered = tokio::time::timeout(Duration::from_secs(30), again).await;
        assert!(answered.is_ok(), "a submit waits for a connection that is dead");
        let counts = tokio::time::timeout(Duration::from_secs(30), store.counts()).await;
        assert!(counts.is_ok(), "a question waits for a connection that is dead");
    }
}
