-- Operations that have not ended, newest first.
SELECT record FROM ratchet_operation WHERE ended_at IS NULL ORDER BY id DESC LIMIT ?1
