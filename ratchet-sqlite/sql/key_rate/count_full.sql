-- The number of keys of a queue that have used up their rate.
SELECT count(*) FROM ratchet_key_rate WHERE queue = ?1 AND full_until > ?2
