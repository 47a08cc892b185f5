//! Shared by the processes of the cluster example: a table of orders, and the job that ships one.

use ratchet::State;
use ratchet::prelude::*;

/// The application's own database.
#[derive(Debug, Clone)]
pub struct Shop {
    /// The connection pool.
    pub pool: sqlx::PgPool,
}

impl Shop {
    /// Connects and creates the table of orders if it does not exist.
    pub async fn open(address: &str) -> Result<Self, sqlx::Error> {
        let pool = sqlx::PgPool::connect(address).await?;
        // Processes may start at the same time, so a lock is held until the table is committed.
        sqlx::raw_sql(
            "SELECT pg_advisory_xact_lock(7);
             CREATE TABLE IF NOT EXISTS shop_order (number int PRIMARY KEY, shipped boolean NOT NULL DEFAULT false);",
        )
        .execute(&pool)
        .await?;
        Ok(Self { pool })
    }
}

/// Ships one order.
#[job(queue = "shipping", max_retries = 3, business_key = "order-{number}")]
pub async fn ship(#[inject] shop: State<Shop>, number: i32) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE shop_order SET shipped = true WHERE number = $1")
        .bind(number)
        .execute(&shop.pool)
        .await?;
    Ok(())
}
