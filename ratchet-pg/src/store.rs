//! The store itself: its handle and its state. Its implementation of [`Store`](ratchet_store::Store) is in `operations`.

mod operations;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use ratchet_store::StoreError;
use ratchet_store::env::IdSource;

use crate::blocked::Causes;
use crate::claim_turnstile::ClaimTurnstile;
use crate::clock::StoreClock;
use crate::db;
use crate::group_commit::Group;
use crate::leases::Leases;
use crate::open::open;
use crate::options::PgOptions;
use crate::partitions;
use crate::plain_claims::PlainClaims;
use crate::pool::Pool;
use crate::runtime::StoreRuntime;
use crate::scan_start::Bounds;
use crate::sql::Sql;
use crate::sweep::Floors;
use crate::unconfirmed_claims::UnconfirmedClaims;
use crate::unreadable::Noted;
use crate::wake::Wakes;
use sqlx::{PgConnection, PgPool};

/// A [`Store`](ratchet_store::Store) on PostgreSQL. Clones share its connections.
///
/// Opens at most [`PgOptions::connections`] connections. They belong to a thread of the store.
///
/// ```no_run
/// # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet_pg::{PgOptions, PgStore};
///
/// let options = PgOptions::new("postgres://localhost/shop")?.schema("jobs").connections(12);
/// let store = PgStore::open(options).await?;
///
/// // A clone goes to `Ratchet::builder(…)`. After the worker has stopped:
/// store.close().await;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct PgStore {
    pub(crate) inner: Arc<Inner>,
    runtime: Arc<StoreRuntime>,
}

/// The shared state behind all operations of the store.
pub(crate) struct Inner {
    pub(crate) pool: Pool,
    pub(crate) sql: Arc<Sql>,
    pub(crate) wakes: Arc<Wakes>,
    pub(crate) channel: String,
    pub(crate) ids: IdSource,
    /// The time that one partition covers.
    pub(crate) range: Duration,
    pub(crate) bounds: Arc<Bounds>,
    pub(crate) leases: Leases,
    pub(crate) plain_claims: PlainClaims,
    pub(crate) claim_turnstile: ClaimTurnstile,
    pub(crate) unconfirmed_claims: UnconfirmedClaims,
    pub(crate) group: Group,
    pub(crate) drop_backoff: partitions::DropBackoff,
    pub(crate) causes: Causes,
    pub(crate) floors: Floors,
    pub(crate) noted: Noted,
    pub(crate) clock: StoreClock,
    /// Held during a check for competing claimers.
    pub(crate) competition: tokio::sync::Mutex<()>,
    /// The time limit of one operation.
    pub(crate) longest: Duration,
    /// How many of the next returned connections may be dead.
    pub(crate) suspects: Arc<AtomicU32>,
}

impl Inner {
    pub(crate) async fn now(&self, db: &mut PgConnection) -> Result<i64, sqlx::Error> {
        db::query_scalar(self.sql.now()).fetch_one(db).await
    }
}

impl PgStore {
    /// Connects to a PostgreSQL URL with default options, migrates the schema and starts to listen for notifications.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::open(PgOptions::new(url)?).await
    }

    /// Opens a store on the database of a pool of the application, with default options. Like
    /// [`PgOptions::from_pool`], this opens connections of its own.
    ///
    /// ```no_run
    /// # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet_pg::PgStore;
    /// use ratchet_pg::sqlx::PgPool;
    ///
    /// let pool = PgPool::connect("postgres://localhost/shop").await?;
    /// let store = PgStore::from_pool(&pool).await?;
    /// # Ok(()) }
    /// ```
    pub async fn from_pool(pool: &PgPool) -> Result<Self, StoreError> {
        Self::open(PgOptions::from_pool(pool)).await
    }

    /// Opens a store with the given options, and migrates the schema unless the options disable it.
    pub async fn open(options: PgOptions) -> Result<Self, StoreError> {
        options.check()?;
        let runtime = Arc::new(StoreRuntime::new(options.longest())?);
        let opened = Arc::downgrade(&runtime);
        // No timeout: a migration may take long.
        let inner = runtime.run_to_its_end(async move { open(options, opened).await }).await?;
        Ok(Self { inner, runtime })
    }

    /// Closes all connections. Operations on the store fail as unavailable afterwards.
    pub async fn close(&self) {
        let inner = Arc::clone(&self.inner);
        let closed = async move {
            inner.pool.close().await;
            Ok::<_, StoreError>(())
        };
        // An error means that the store runtime has already stopped.
        let _ = self.runtime.run(closed).await;
    }
}

impl fmt::Debug for PgStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgStore")
            .field("schema", &self.inner.sql.schema())
            .field("connections", &self.inner.pool.size())
            .finish_non_exhaustive()
    }
}
