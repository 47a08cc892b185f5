//! Runs the installed `pgbouncer` in front of a server.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use ratchet_pg::PgOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};

use super::private_server::{OwnServer, own};
use super::server::unprivileged;

/// A running pooler. Dropping it stops the process.
pub(crate) struct Pooler {
    process: Child,
    folder: PathBuf,
    database: String,
}

impl Pooler {
    /// Starts a session pooler: a client keeps its server connection until it disconnects.
    pub(crate) async fn of_sessions(server: &OwnServer) -> Self {
        let folder = server.folder().join("pooler");
        let mode = "pool_mode = session\ndefault_pool_size = 40\n";
        Self::start(folder, &server.url("postgres"), mode).await
    }

    /// Starts a transaction pooler with three server connections, which are used in turn. State that a client leaves on
    /// a server connection is visible to the next client.
    pub(crate) async fn of_transactions(folder: &Path, url: &str) -> Self {
        let mode = "pool_mode = transaction\ndefault_pool_size = 3\nmin_pool_size = 3\n\
                    server_round_robin = 1\n";
        let pooler = Self::start(folder.join("pooler"), url, mode).await;
        pooler.open_servers(3).await;
        pooler
    }

    /// Opens `count` server connections with concurrent transactions. The pooler opens connections only on demand, and
    /// enforces its minimum only from time to time.
    async fn open_servers(&self, count: usize) {
        let connect: PgConnectOptions = self.url().parse().expect("a URL");
        let connect = connect.extra_float_digits(None);
        let mut clients = Vec::new();
        for _ in 0..count {
            let mut client = PgConnection::connect_with(&connect).await.expect("connects");
            sqlx::raw_sql("BEGIN").execute(&mut client).await.expect("begins");
            clients.push(client);
        }
        for mut client in clients {
            sqlx::raw_sql("COMMIT").execute(&mut client).await.expect("ends");
            client.close().await.expect("leaves");
        }
    }

    async fn start(folder: PathBuf, url: &str, mode: &str) -> Self {
        let there: PgConnectOptions = url.parse().expect("a URL");
        let database = there.get_database().expect("a database").to_owned();
        let host = there
            .get_socket()
            .map_or_else(|| there.get_host().to_owned(), |socket| socket.display().to_string());
        let (port, user) = (there.get_port(), there.get_username());
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let here = folder.display();
        let settings = format!(
            "[databases]\n{database} = host={host} port={port} user={user} dbname={database}\n\
             [pgbouncer]\nlisten_addr =\nunix_socket_dir = {here}\nauth_type = any\n{mode}\
             max_client_conn = 100\nlogfile = {here}/log\npidfile = {here}/pid\n"
        );
        fs::write(folder.join("pgbouncer.ini"), settings).expect("settings");
        own(&folder);
        let mut pooler = unprivileged(&pgbouncer());
        let process = pooler.arg("-q").arg(folder.join("pgbouncer.ini")).stdout(Stdio::null());
        let process = process.spawn().expect("the pooler starts");
        let socket = folder.join(".s.PGSQL.6432");
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        // The socket file exists shortly before the pooler listens.
        while UnixStream::connect(&socket).is_err() {
            assert!(tokio::time::Instant::now() < deadline, "the pooler does not listen");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Self { process, folder, database }
    }

    pub(crate) fn url(&self) -> String {
        let host = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{host}:6432/{}", self.database)
    }

    /// Returns options for a poll-only store behind this pooler.
    pub(crate) fn options(&self) -> PgOptions {
        let options = PgOptions::new(&self.url()).expect("a URL");
        options.acquire_timeout(Duration::from_secs(20)).poll_only()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn pgbouncer() -> PathBuf {
    let places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];
    let found = places.into_iter().map(PathBuf::from).find(|place| place.exists());
    found.expect("pgbouncer is installed: `scripts/test` brings it (Debian: apt install pgbouncer)")
}
