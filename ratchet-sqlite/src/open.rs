//! Opens a store: connects to the file, migrates the schema and starts the writer thread.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use tokio::sync::{Notify, broadcast, mpsc};
use tokio::time::Instant;

use crate::archive::Archive;
use crate::error::Fault;
use crate::file::{Files, Watch};
use crate::migrate::{check, migrate, script};
use crate::options::SqliteOptions;
use crate::readers::Readers;
use crate::store::Shared;
use crate::template::Templates;
use crate::transaction;
use crate::verb::AnyRequest;
use crate::writer::Writer;

/// The capacity of a wake-up channel. A slow receiver that falls behind further loses wake-ups, which costs a poll.
const WAKES_KEPT: usize = 1024;

type Opened = (Arc<Shared>, mpsc::UnboundedSender<Box<dyn AnyRequest>>, Arc<Readers>);

pub(crate) async fn open(options: SqliteOptions) -> Result<Opened, StoreError> {
    let connect = options.connect_options()?;
    let mut conn = connect_patiently(&connect, &options).await?;
    let migrated = match options.migrate {
        true => migrate(&mut conn, options.path(), options.clock.now()).await?,
        false => check(&mut conn, options.path()).await.map(|()| false)?,
    };
    if migrated {
        // Let the file grow to the size it needs while there is space: when the log fills the disk, it can be moved
        // into the file only if the file need not grow. If another process is reading, a later checkpoint does this.
        let moved = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut conn).await;
        if let Err(error) = moved {
            tracing::debug!(%error, "the write-ahead log was not moved into the new job database");
        }
    }
    let mut readers = Vec::with_capacity(options.readers);
    for _ in 0..options.readers {
        readers.push(connect_patiently(&connect, &options).await?);
    }
    let readers = Arc::new(Readers::new(readers));
    let (wakes, _) = broadcast::channel(WAKES_KEPT);
    let (ends, _) = broadcast::channel(WAKES_KEPT);
    let (sender, inbox) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        path: options.path.clone(),
        clock: Arc::clone(&options.clock),
        templates: Templates::default(),
        wakes,
        ends,
        listener: Notify::new(),
        damage: OnceLock::new(),
        files: Files::opened(&options.path),
        archive: Arc::new(Archive::new(&options.path, &connect)),
        pool: transaction::pool(&options, &connect),
    });
    let writer = Writer {
        conn,
        inbox,
        shared: Arc::clone(&shared),
        max_skipped: options.max_skipped,
        watch: options.watch,
        last_group_len: 1,
        seen: None,
        looked: Instant::now(),
        file: Watch::new(options.long_log),
        readers: Arc::clone(&readers),
        busy_timeout: options.busy_timeout,
        in_vain: None,
    };
    start(writer).map_err(|error| {
        let why = "the thread that writes the job database cannot be started";
        StoreError::new(StoreErrorKind::Unavailable, why).with_source(error)
    })?;
    Ok((shared, sender, readers))
}

/// Migrates the schema, without opening a store.
pub(crate) async fn migrate_only(options: &SqliteOptions) -> Result<(), StoreError> {
    let mut conn = connect_patiently(&options.connect_options()?, options).await?;
    migrate(&mut conn, options.path(), options.clock.now()).await?;
    conn.close().await.map_err(|error| Fault::new(options.path(), &error).into())
}

/// Returns the statements of a migration, without opening a store, or `None` if nothing is missing.
pub(crate) async fn migration_script(
    options: &SqliteOptions,
) -> Result<Option<String>, StoreError> {
    if !options.path().exists() {
        return script(None, options.path()).await;
    }
    let mut conn = connect_patiently(&options.connect_options()?, options).await?;
    let script = script(Some(&mut conn), options.path()).await;
    let _ = conn.close().await;
    script
}

/// Connects, and retries while the file is locked. When two processes open a new file at the same time, SQLite may
/// report it as locked without waiting.
async fn connect_patiently(
    connect: &SqliteConnectOptions,
    options: &SqliteOptions,
) -> Result<SqliteConnection, StoreError> {
    const PAUSE: Duration = Duration::from_millis(5);
    let started = options.clock.monotonic();
    let mut tries: u32 = 0;
    loop {
        tries += 1;
        let error = match connect.connect().await {
            Ok(conn) => return Ok(conn),
            Err(error) => Fault::opening(options.path(), &error),
        };
        let waited = options.clock.monotonic().saturating_sub(started).max(PAUSE * tries);
        if error.kind != StoreErrorKind::Locked || waited >= options.busy_timeout {
            return Err(error.into());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Starts the writer on a thread of its own, so that a handler that blocks its runtime does not delay claims and
/// heartbeats.
fn start(writer: Writer) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let thread = std::thread::Builder::new().name("ratchet-sqlite".to_owned());
    thread.spawn(move || runtime.block_on(writer.run()))?;
    Ok(())
}
