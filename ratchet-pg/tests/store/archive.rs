//! The schema of the archive: it has the tables of jobs once more, so a migration of one must also change the other.

use ratchet_conformance::Harness as _;

use crate::support::PgHarness;

/// The tables that have ranges of ids, with the columns of each in their order.
async fn columns(pg: &PgHarness, schema: &'static str) -> Vec<(String, Vec<String>)> {
    let sql = "SELECT c.relname::text, array_agg(
            a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
                || COALESCE(' DEFAULT ' || replace(pg_get_expr(d.adbin, d.adrelid), 'ratchet.', ''), '')
            ORDER BY a.attnum)
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE n.nspname = $1 AND c.relkind = 'p' GROUP BY c.relname ORDER BY c.relname";
    sqlx::query_as(sql).bind(schema).fetch_all(&pg.database.pool).await.expect("reads")
}

/// The indexes of these tables, without their names.
async fn indexes(pg: &PgHarness, schema: &'static str) -> Vec<(String, String)> {
    let sql = "SELECT t.relname::text, (CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END)
            || substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*')
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
        WHERE n.nspname = $1 AND t.relkind = 'p' ORDER BY 1, 2";
    sqlx::query_as(sql).bind(schema).fetch_all(&pg.database.pool).await.expect("reads")
}

/// A row moves from one table to the other with all of its columns in their order.
#[tokio::test]
async fn a_01_the_archive_has_the_columns_and_indexes_of_the_tables_of_jobs() {
    let pg = PgHarness::fresh().await;
    let (live, archive) = (columns(&pg, "ratchet").await, columns(&pg, "ratchet_archive").await);
    assert!(live.iter().any(|(table, columns)| table == "job" && columns.len() > 15), "{live:?}");
    assert_eq!(live, archive, "a migration of a table of jobs must also change the archive");
    // A search for archived jobs by business key. Submits do not pay for it.
    let only = (
        "job".to_owned(),
        " USING btree (business_key, id) WHERE (business_key IS NOT NULL)".to_owned(),
    );
    let mut expected = indexes(&pg, "ratchet").await;
    expected.push(only);
    expected.sort();
    assert_eq!(expected, indexes(&pg, "ratchet_archive").await);
}
