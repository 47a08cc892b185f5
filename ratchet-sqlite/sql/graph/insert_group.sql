-- Inserts or updates a group.
INSERT INTO ratchet_group (id, owner, kind, name, state, finished_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, finished_at = excluded.finished_at, body = excluded.body
