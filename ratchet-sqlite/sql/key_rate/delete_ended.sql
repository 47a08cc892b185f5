-- Deletes the states of keys that have no counted claim in the period.
DELETE FROM ratchet_key_rate WHERE (queue, key) IN (
    SELECT queue, key FROM ratchet_key_rate WHERE ends <= ?1 ORDER BY ends LIMIT 10000
)
