//! A failed notification must not refuse a job.

use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::Inserted;

use crate::world::World;

// If a session listens and does not read, the server eventually refuses every commit that notifies. Its queue holds
// gigabytes, so a function that fails in the same way replaces it here.
#[tokio::test]
async fn s_09_a_full_queue_of_notifications_refuses_no_job() {
    let world = World::fresh().await;
    world
        .pg
        .database
        .execute(
            "CREATE SCHEMA IF NOT EXISTS shadow;
             CREATE OR REPLACE FUNCTION shadow.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
                RAISE EXCEPTION 'too many notifications in the NOTIFY queue' USING ERRCODE = '54000';
             END $$",
        )
        .await;
    let shadowed = [("search_path", "shadow,pg_catalog,public")];
    let store = PgStore::open(world.pg.database.options_with(shadowed)).await.expect("opens");
    let one = world.job();
    let id = one.id;
    assert_eq!(store.insert(vec![one]).await.expect("inserted"), [Inserted::Created(id)]);
    let many: Vec<_> = (0..100).map(|_| world.job()).collect();
    assert_eq!(store.insert(many).await.expect("inserted").len(), 100);
    assert_eq!(world.count("SELECT count(*) FROM ratchet.job").await, 101);
    world.pg.database.execute("DROP SCHEMA shadow CASCADE").await;
}
