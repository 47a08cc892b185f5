-- Removes operations that ended before ?1.
DELETE FROM ratchet_operation WHERE ended_at < ?1
