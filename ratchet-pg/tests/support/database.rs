//! One database per test: reserved by a file lock, cleaned, and released when the test ends.

use std::fs::File;
use std::time::Duration;

use ratchet_pg::{DatabaseRole, PgOptions, PgStore};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, PgPool, Row};

use super::server::{folder, open, url};

/// A database reserved for one test.
pub(crate) struct Database {
    name: String,
    /// For statements of the test itself, and for moving the clock.
    pub(crate) pool: PgPool,
    _lock: File,
}

impl Database {
    /// Reserves a database and cleans it.
    pub(crate) async fn take() -> Self {
        let (number, lock) = (0..)
            .find_map(|number| {
                let lock = open(&folder().join(format!("db-{number}")));
                lock.try_lock().is_ok().then_some((number, lock))
            })
            .expect("there is always one more");
        let name = format!("ratchet_{number}");
        let options: PgConnectOptions = format!("{}/{name}", url()).parse().expect("a URL");
        let pool = PgPoolOptions::new().max_connections(4).connect_lazy_with(options);
        let database = Self { name, pool, _lock: lock };
        database.clean().await;
        database
    }

    /// Returns a directory reserved for this test.
    pub(crate) fn folder(&self) -> std::path::PathBuf {
        let folder = folder().join(format!("of-{}", self.name));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the socket of the server.
    pub(crate) fn socket(&self) -> std::path::PathBuf {
        let options: PgConnectOptions = self.url().parse().expect("a URL");
        let folder = options.get_socket().expect("the server of the tests has a socket");
        folder.join(format!(".s.PGSQL.{}", options.get_port()))
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/{}", url(), self.name)
    }

    pub(crate) fn options(&self) -> PgOptions {
        PgOptions::new(&self.url()).expect("a URL").acquire_timeout(Duration::from_secs(20))
    }

    /// Returns options for a user that has the rights of a role and no others.
    pub(crate) async fn options_as(&self, role: DatabaseRole) -> PgOptions {
        let user = format!("{}_{role}", self.name);
        // The database is used by many tests.
        let has_rights = sqlx::query_scalar::<_, Option<bool>>(
            "SELECT has_schema_privilege(oid, 'ratchet', 'USAGE') FROM pg_roles WHERE rolname = $1",
        );
        let has_rights =
            has_rights.bind(&user).fetch_optional(&self.pool).await.expect("an answer");
        if has_rights.flatten() != Some(true) {
            self.execute(&format!(
                "DO $$ BEGIN CREATE ROLE {user} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
            ))
            .await;
            self.options().grant(role, &user).await.expect("grants");
            // The movable clock of the tests.
            self.execute(&format!("GRANT SELECT ON SEQUENCE test_clock TO {user}")).await;
        }
        let connect: PgConnectOptions = self.url().parse().expect("a URL");
        PgOptions::with(connect.username(&user))
            .acquire_timeout(Duration::from_secs(20))
            .without_migrations()
    }

    /// Returns options with settings for every session.
    pub(crate) fn options_with<const N: usize>(&self, settings: [(&str, &str); N]) -> PgOptions {
        let connect: PgConnectOptions = self.url().parse().expect("a URL");
        PgOptions::with(connect.options(settings))
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let done = self.pool.execute(AssertSqlSafe(sql)).await;
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    pub(crate) async fn advance(&self, by: Duration) {
        let micros = i64::try_from(by.as_micros()).expect("a test passes no ages");
        sqlx::query("SELECT setval('test_clock', (SELECT last_value FROM test_clock) + $1)")
            .bind(micros)
            .execute(&self.pool)
            .await
            .expect("the clock moves");
    }

    /// Copies the database, to which nothing may be connected, and returns the URL of the copy.
    pub(crate) async fn copy(&self) -> String {
        let mut admin =
            PgConnection::connect(&format!("{}/postgres", url())).await.expect("a server");
        let copy = format!("{}_copy", self.name);
        for sql in [
            format!("DROP DATABASE IF EXISTS {copy} WITH (FORCE)"),
            format!("CREATE DATABASE {copy} TEMPLATE {}", self.name),
        ] {
            admin.execute(AssertSqlSafe(sql)).await.expect("copies");
        }
        admin.close().await.expect("closes");
        format!("{}/{copy}", url())
    }

    /// Deletes a copy.
    pub(crate) async fn drop_copy(&self) {
        let mut admin =
            PgConnection::connect(&format!("{}/postgres", url())).await.expect("a server");
        let drop = format!("DROP DATABASE IF EXISTS {}_copy WITH (FORCE)", self.name);
        admin.execute(AssertSqlSafe(drop)).await.expect("deletes");
        admin.close().await.expect("closes");
    }

    /// Creates the database if it does not exist, and empties it.
    async fn clean(&self) {
        let mut admin =
            PgConnection::connect(&format!("{}/postgres", url())).await.expect("a server");
        let there = sqlx::query("SELECT FROM pg_database WHERE datname = $1").bind(&self.name);
        if there.fetch_optional(&mut admin).await.expect("an answer").is_none() {
            let create = format!("CREATE DATABASE {}", self.name);
            admin.execute(AssertSqlSafe(create)).await.expect("a database");
            self.execute("CREATE SEQUENCE test_clock MINVALUE 0 START 0").await;
        }
        // Most tests submit jobs that no worker has recorded.
        let allow = format!("ALTER DATABASE {} SET ratchet.allow_unknown = 'on'", self.name);
        admin.execute(AssertSqlSafe(allow)).await.expect("is set");
        let others =
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1";
        sqlx::query(others).bind(&self.name).execute(&mut admin).await.expect("an answer");
        admin.close().await.expect("closes");
        let schema = sqlx::query("SELECT count(*) FROM pg_tables WHERE schemaname = 'ratchet'");
        let tables: i64 = schema.fetch_one(&self.pool).await.expect("an answer").get(0);
        let newest: bool = tables > 0 && self.is_current().await;
        if newest {
            self.empty().await;
        } else {
            self.execute("DROP SCHEMA IF EXISTS ratchet, ratchet_archive CASCADE").await;
            let store = PgStore::open(self.options().poll_only()).await.expect("migrates");
            store.close().await;
            if has_later_columns() {
                self.add_later_columns().await;
            }
            self.movable_clock().await;
        }
        self.execute("SELECT setval('test_clock', 0)").await;
    }

    /// Adds a column to every table, as a migration of a later version may do.
    async fn add_later_columns(&self) {
        self.execute(
            "DO $$ DECLARE t regclass; BEGIN
                FOR t IN SELECT oid FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
                    AND relnamespace IN ('ratchet'::regnamespace, 'ratchet_archive'::regnamespace) LOOP
                    EXECUTE format('ALTER TABLE %s ADD COLUMN of_a_later_version text', t);
                END LOOP;
            END $$",
        )
        .await;
    }

    /// Returns whether the schema was created by the current migrations.
    async fn is_current(&self) -> bool {
        let kept: Option<String> =
            sqlx::query_scalar("SELECT obj_description('ratchet'::regnamespace)")
                .fetch_one(&self.pool)
                .await
                .expect("an answer");
        kept.as_deref() == Some(fingerprint().as_str())
    }

    /// Empties all tables that have rows.
    pub(crate) async fn empty(&self) {
        self.execute(
            "DO $$ DECLARE t text; filled boolean; BEGIN
                FOR t IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
                    WHERE schemaname IN ('ratchet', 'ratchet_archive') AND tablename NOT IN ('migration', 'part') LOOP
                    EXECUTE 'SELECT EXISTS (SELECT FROM ' || t || ')' INTO filled;
                    IF filled THEN EXECUTE 'DELETE FROM ' || t; END IF;
                END LOOP;
                -- The ranges of the archive stay, with no jobs.
                UPDATE ratchet_archive.part SET at = NULL WHERE at IS NOT NULL;
            END $$",
        )
        .await;
    }

    /// Installs a clock that `advance` can move.
    pub(crate) async fn movable_clock(&self) {
        self.execute(
            "CREATE OR REPLACE FUNCTION ratchet.now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
             $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
                + (SELECT last_value FROM public.test_clock) $$",
        )
        .await;
        self.execute(&format!("COMMENT ON SCHEMA ratchet IS '{}'", fingerprint())).await;
    }
}

/// Returns whether the tables of the tests have a column that this version does not know (`scripts/proof columns`).
fn has_later_columns() -> bool {
    std::env::var_os("RATCHET_LATER_COLUMNS").is_some()
}

/// Returns a fingerprint of the migrations.
fn fingerprint() -> String {
    // The examples include this file, too.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../ratchet-pg/migrations");
    let files =
        std::fs::read_dir(folder).expect("the migrations").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let texts = files.iter().flat_map(|file| std::fs::read(file).expect("a migration"));
    let hash = texts.fold(5381_u64, |hash, byte| hash.wrapping_mul(33) ^ u64::from(byte));
    format!("{hash:016x}{}", if has_later_columns() { "+" } else { "" })
}
