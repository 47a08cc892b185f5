//! Opens a store: configures the connections, migrates the schema and starts the background tasks.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};

use ratchet_store::StoreError;
use ratchet_store::env::{IdSource, OsEntropy, SystemClock};
use tokio::sync::mpsc;

use crate::blocked::Causes;
use crate::claim_turnstile::ClaimTurnstile;
use crate::clock::StoreClock;
use crate::connection_cache::FRESH;
use crate::db;
use crate::group_commit::Group;
use crate::leases::Leases;
use crate::lost_connection::LastLoss;
use crate::options::PgOptions;
use crate::plain_claims::PlainClaims;
use crate::pool::Pool;
use crate::runtime::StoreRuntime;
use crate::scan_start::Bounds;
use crate::sql::{self, Sql};
use crate::store::Inner;
use crate::sweep::Floors;
use crate::unconfirmed_claims::UnconfirmedClaims;
use crate::unreadable::Noted;
use crate::wake::{HintSender, Wakes, listen, tested_listener};
use crate::{migrate, partitions, tls};
use sqlx::Connection;
use sqlx::postgres::PgPoolOptions;

/// Opens a store with the given options. Its background tasks run on the store runtime.
pub(crate) async fn open(
    options: PgOptions,
    runtime: Weak<StoreRuntime>,
) -> Result<Arc<Inner>, StoreError> {
    let suspects = runtime.upgrade().map(|runtime| runtime.suspect_connections());
    let suspects = suspects.unwrap_or_default();
    let connect = tls::resolve(options.connect.clone()).await;
    tls::warn_of_clear_text(&connect).await;
    let options = PgOptions { connect, ..options };
    let pool = connect_lazily(&options, &suspects);
    let connections = pool.connections().clone();
    let (longest, poll_only) = (options.longest(), options.poll_only);
    let PgOptions { schema, statement_timeout, migrate, range, .. } = options;
    let sql = Arc::new(Sql::new(&schema, !poll_only));
    migrate::migrate(&pool, &sql, migrate).await?;
    partitions::make(&pool, &sql, range).await?;
    let clock = StoreClock::default();
    let now: i64 =
        db::query_scalar(sql.now()).fetch_one(&pool).await.map_err(crate::error::store_error)?;
    clock.saw(now);
    let channel = sql::channel(&schema);
    let (sender, hints) = mpsc::unbounded_channel();
    let bounds = Arc::<Bounds>::default();
    let wakes = Arc::new(Wakes::new((!poll_only).then_some(sender), Arc::clone(&bounds)));
    let origin = wakes.origin().to_owned();
    if !poll_only && let Some(runtime) = runtime.upgrade() {
        if let Some(listener) = tested_listener(&connections, &sql, &channel, &origin).await {
            runtime.spawn(listen(listener, origin.clone(), Arc::downgrade(&wakes)));
        }
        let sender = HintSender {
            pool: connections,
            sql: Arc::clone(&sql),
            channel: channel.clone(),
            origin,
            longest,
            suspects: Arc::clone(&suspects),
            waiters: wakes.waiters(),
            throttle: wakes.throttle(),
        };
        runtime.spawn(sender.run(hints));
    }
    Ok(Arc::new(Inner {
        pool,
        sql,
        wakes,
        channel,
        ids: IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy)),
        range,
        bounds,
        leases: Leases::default(),
        plain_claims: PlainClaims::default(),
        claim_turnstile: ClaimTurnstile::default(),
        unconfirmed_claims: UnconfirmedClaims::new(statement_timeout),
        group: Group::default(),
        drop_backoff: partitions::DropBackoff::default(),
        causes: Causes::default(),
        floors: Floors::default(),
        noted: Noted::default(),
        clock,
        competition: tokio::sync::Mutex::default(),
        longest,
        suspects,
    }))
}

/// Migrates the schema, without opening a store.
pub(crate) async fn migrate_only(options: PgOptions) -> Result<(), StoreError> {
    let connect = tls::resolve(options.connect.clone()).await;
    let options = PgOptions { connect, connections: 1, ..options };
    let pool = connect_lazily(&options, &Arc::default());
    let sql = Sql::new(&options.schema, !options.poll_only);
    let migrated = async {
        migrate::migrate(&pool, &sql, true).await?;
        Ok(partitions::make(&pool, &sql, options.range).await?)
    };
    let migrated = migrated.await;
    pool.close().await;
    migrated
}

/// Returns the statements of a migration, without opening a store, or `None` if nothing is missing.
pub(crate) async fn migration_script(options: PgOptions) -> Result<Option<String>, StoreError> {
    let connect = tls::resolve(options.connect.clone()).await;
    let options = PgOptions { connect, connections: 1, ..options };
    let pool = connect_lazily(&options, &Arc::default());
    let sql = Sql::new(&options.schema, !options.poll_only);
    let script = migrate::script(&pool, &sql).await;
    pool.close().await;
    Ok(script?.map(|script| script + &partitions::statement(&sql, options.range)))
}

/// Returns the pool of a store. It connects when a connection is needed.
fn connect_lazily(options: &PgOptions, suspects: &Arc<AtomicU32>) -> Pool {
    let (acquire_timeout, statement_timeout) = (options.acquire_timeout, options.statement_timeout);
    let losses = Arc::<LastLoss>::default();
    let mut pool = PgPoolOptions::new()
        .max_connections(options.connections)
        .acquire_timeout(acquire_timeout)
        .test_before_acquire(false)
        // A connection that was just used is alive. One that was idle for longer may have been cut off.
        .before_acquire({
            let losses = Arc::clone(&losses);
            move |db, meta| {
                let check = meta.idle_for > FRESH || losses.may_concern(meta.idle_for);
                Box::pin(async move {
                    if check {
                        db.ping().await?;
                    }
                    Ok(true)
                })
            }
        })
        // An operation that timed out has dropped a connection that may be dead, or that may be about to begin a
        // transaction that is never ended. The check itself must not wait forever either.
        .after_release({
            let suspects = Arc::clone(suspects);
            move |db, _| {
                let suspect =
                    suspects.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
                Box::pin(async move {
                    if suspect {
                        let ended = sqlx::raw_sql(sql::roll_back()).execute(db);
                        let ended = tokio::time::timeout(acquire_timeout, ended).await;
                        ended.map_err(|_| sqlx::Error::PoolTimedOut)??;
                    }
                    Ok(true)
                })
            }
        });
    if !options.poll_only {
        pool = pool.after_connect(move |db, _| {
            Box::pin(async move {
                sqlx::raw_sql(sql::session(statement_timeout)).execute(db).await?;
                Ok(())
            })
        });
    }
    let begin = options.poll_only.then(|| sql::begin(statement_timeout));
    Pool::new(pool.connect_lazy_with(options.connect.clone()), begin, losses)
}
