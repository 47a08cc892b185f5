-- A job whose row could not be read. One row if that was not known.
INSERT INTO ratchet_unreadable (seq, id, found_at, cause, why) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO NOTHING RETURNING 1
