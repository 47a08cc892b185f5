//! Connections that are lost silently: both ends consider them open, but no data passes.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::OwnServer;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::{PgOptions, PgStore};
use ratchet_store::Store;
use ratchet_store::model::{
    ClaimRequest, JobSpec, KnownJobs, NewJob, NodeInfo, QueueDemand, Suspects,
};
use sqlx::Connection as _;

/// Whether all traffic is held for now. Held data is not lost.
#[derive(Default)]
struct Held {
    now: AtomicBool,
    at_begin: AtomicBool,
}

impl Held {
    fn wait(&self, piece: &[u8]) {
        let begins = piece.windows(5).any(|word| word == b"BEGIN");
        if begins && self.at_begin.swap(false, Ordering::SeqCst) {
            self.now.store(true, Ordering::SeqCst);
        }
        while self.now.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Forwards connections to a socket until they are forgotten.
struct Network {
    port: u16,
    made: Arc<AtomicUsize>,
    forgotten: Arc<AtomicUsize>,
    held: Arc<Held>,
    clients: Arc<Mutex<Vec<TcpStream>>>,
}

impl Network {
    fn to(socket: PathBuf) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let (made, forgotten) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (count, gone) = (Arc::clone(&made), Arc::clone(&forgotten));
        let clients = Arc::<Mutex<Vec<TcpStream>>>::default();
        let held = Arc::<Held>::default();
        let hold = Arc::clone(&held);
        let known = Arc::clone(&clients);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let server = UnixStream::connect(&socket).expect("the server is up");
                let (back, there) = (client.try_clone(), server.try_clone());
                let (back, there) = (back.expect("a socket"), there.expect("a socket"));
                known.lock().expect("known").extend(client.try_clone());
                let (gone, also) = (Arc::clone(&gone), Arc::clone(&gone));
                let (hold, hold_back) = (Arc::clone(&hold), Arc::clone(&hold));
                std::thread::spawn(move || pass(client, there, number, (&gone, &hold)));
                std::thread::spawn(move || pass_back(server, back, number, (&also, &hold_back)));
            }
        });
        Self { port, made, forgotten, held, clients }
    }

    /// Holds all traffic from the start of the next transaction.
    fn hold_at_begin(&self) {
        self.held.at_begin.store(true, Ordering::SeqCst);
    }

    fn release_holds(&self) {
        assert!(self.held.now.swap(false, Ordering::SeqCst), "a transaction was to begin");
    }

    fn forget_all(&self) {
        self.forgotten.store(self.made.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}

impl Network {
    /// Closes all connections on the client side. The server notices that only when it answers.
    fn cut_clients(&self) {
        for client in self.clients.lock().expect("known").drain(..) {
            let _ = client.shutdown(std::net::Shutdown::Both);
        }
    }
}

macro_rules! passing {
    ($name:ident, $from:ty, $to:ty) => {
        fn $name(
            mut from: $from,
            mut to: $to,
            number: usize,
            (forgotten, held): (&AtomicUsize, &Held),
        ) {
            let mut piece = vec![0; 8192];
            while let Ok(length @ 1..) = from.read(&mut piece) {
                held.wait(&piece[..length]);
                // Data of a forgotten connection is discarded.
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
    NewJob::new(ids.job(), spec)
}

// spec: X-08
#[tokio::test(flavor = "multi_thread")]
async fn x_08_connections_that_are_half_open_are_given_up() {
    let server = OwnServer::start("");
    let network = Network::to(server.folder().join(".s.PGSQL.5432"));
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", network.port);
    let short = Duration::from_millis(300);
    let options = PgOptions::new(&url).expect("a URL").connections(4);
    let store = PgStore::open(options.acquire_timeout(short).statement_timeout(short)).await;
    let store = store.expect("opens");
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    store.insert(vec![job(&ids)]).await.expect("inserts");
    // More rounds than connections, so that none may be lost permanently.
    for _ in 0..3 {
        network.forget_all();
        let again = async { while store.insert(vec![job(&ids)]).await.is_err() {} };
        let answered = tokio::time::timeout(Duration::from_secs(30), again).await;
        assert!(answered.is_ok(), "a submit waits for a connection that is dead");
        let counts = tokio::time::timeout(Duration::from_secs(30), store.counts()).await;
        assert!(counts.is_ok(), "a question waits for a connection that is dead");
    }
}

// An operation that times out while it begins a transaction may leave the transaction open. Later writes on that
// connection would never be committed.
#[tokio::test(flavor = "multi_thread")]
async fn x_08_a_transaction_that_began_too_late_takes_nothing_with_it() {
    let server = OwnServer::start("");
    let network = Network::to(server.folder().join(".s.PGSQL.5432"));
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", network.port);
    let options = PgOptions::new(&url).expect("a URL").connections(2);
    let options = options.acquire_timeout(Duration::from_secs(3));
    // One connection listens, so only one is left.
    let store = PgStore::open(options.statement_timeout(Duration::from_millis(300))).await;
    let store = store.expect("opens");
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let node = ids.node();
    store.join(NodeInfo::new(node), Duration::from_mins(10)).await.expect("joins");

    network.hold_at_begin();
    store.leave(node).await.expect_err("it is given up");
    network.release_holds();

    let reported = job(&ids);
    let id = reported.id;
    store.insert(vec![reported]).await.expect("inserts");
    let mut other = sqlx::PgConnection::connect(&server.url("postgres")).await.expect("connects");
    let stored = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM ratchet.job WHERE id = $1");
    let stored = stored.bind(id.uuid()).fetch_one(&mut other).await.expect("an answer");
    assert_eq!(stored, 1, "what was reported to be stored is stored");
}

/// Waits until a query answers `true`.
async fn until(db: &mut sqlx::PgConnection, sql: &'static str) {
    let waited = async {
        while !sqlx::query_scalar::<_, bool>(sql).fetch_one(&mut *db).await.expect("an answer") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waited).await.expect(sql);
}

// spec: P-03
#[tokio::test(flavor = "multi_thread")]
async fn p_03_claim_that_commits_after_it_was_looked_for_is_given_back_too() {
    let server = OwnServer::start("");
    let network = Network::to(server.folder().join(".s.PGSQL.5432"));
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", network.port);
    let store = PgStore::open(PgOptions::new(&url).expect("a URL").connections(1)).await;
    let store = store.expect("opens");
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let (node, lease) = (ids.node(), Duration::from_mins(10));
    store.join(NodeInfo::new(node), lease).await.expect("joins");
    let request = ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit: 10 }],
        known: Arc::new(KnownJobs([("test.silence".to_owned(), 1)].into())),
        suspects: Suspects::beside_others(5),
        starting: true,
    };

    // The only connection has prepared the statement, so the whole claim is sent at once.
    assert!(store.claim(request.clone()).await.expect("claims").jobs.is_empty());
    let waiting = job(&ids);
    let id = waiting.id;
    store.insert(vec![waiting]).await.expect("inserts");

    // The claim waits for a lock when its connection ends, and continues on the server.
    let mut holder = sqlx::PgConnection::connect(&server.url("postgres")).await.expect("connects");
    let mut watcher = sqlx::PgConnection::connect(&server.url("postgres")).await.expect("connects");
    sqlx::raw_sql("BEGIN; LOCK TABLE ratchet.ready IN ACCESS EXCLUSIVE MODE")
        .execute(&mut holder)
        .await
        .expect("locks");
    let claim = tokio::spawn({
        let (store, request) = (store.clone(), request.clone());
        async move { store.claim(request).await }
    });
    until(&mut watcher, "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)").await;
    network.cut_clients();
    assert!(claim.await.expect("ends").is_err(), "its answer is lost");

    // The lease is searched for, but does not exist yet.
    while store.heartbeat(node, lease).await.is_err() {}
    sqlx::raw_sql("COMMIT").execute(&mut holder).await.expect("unlocks");
    until(&mut watcher, "SELECT EXISTS (SELECT FROM ratchet.lease)").await;

    store.heartbeat(node, lease).await.expect("a sign of life");
    let reply = store.claim(request).await.expect("claims");
    let claimed: Vec<_> = reply.jobs.iter().map(ratchet_store::model::Claimed::id).collect();
    assert_eq!(claimed, [id], "no node runs it, and none would have looked for it");
}
