//! The address of a store, and opening the store at an address.

use std::sync::Arc;
use std::time::Duration;

use ratchet::{PgStore, SqliteStore, Store};
use ratchet_pg::PgOptions;

use crate::Problem;

/// The kind of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Sqlite,
    Pg,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Pg];

    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Pg => "pg",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Pg => "PostgreSQL",
        }
    }

    /// Returns the kind of the store at an address.
    pub fn of(address: &str) -> Self {
        if address.starts_with("postgres:") { Self::Pg } else { Self::Sqlite }
    }
}

/// An open store of either kind.
#[derive(Debug, Clone)]
pub enum Opened {
    Sqlite(SqliteStore),
    Pg(PgStore),
}

impl Opened {
    pub async fn open(address: &str) -> Result<Self, Problem> {
        Ok(match Kind::of(address) {
            Kind::Sqlite => Self::Sqlite(SqliteStore::open(address).await?),
            Kind::Pg => {
                let options = PgOptions::new(address)?.connections(5);
                Self::Pg(PgStore::open(options.acquire_timeout(Duration::from_secs(5))).await?)
            }
        })
    }

    pub fn shared(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(store) => Arc::new(store.clone()),
            Self::Pg(store) => Arc::new(store.clone()),
        }
    }

    pub async fn close(self) {
        if let Self::Pg(store) = self {
            store.close().await;
        }
    }
}
