-- Inserts or replaces an operation.
INSERT INTO ratchet_operation (id, ended_at, record) VALUES (?1, ?2, ?3)
ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, record = excluded.record
