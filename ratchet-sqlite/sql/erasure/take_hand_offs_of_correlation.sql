-- The hand-offs of a correlation id before an instant. Deletes them.
DELETE FROM ratchet_hand_off WHERE number IN (
    SELECT number FROM ratchet_hand_off WHERE correlation_id = ?1 AND at < ?2 LIMIT ?3
) RETURNING job, pipeline, key
