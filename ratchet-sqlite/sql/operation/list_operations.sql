-- Newest first.
SELECT record FROM ratchet_operation ORDER BY id DESC LIMIT ?1
