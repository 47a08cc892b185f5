-- The hand-offs of a tenant before an instant. Deletes them.
DELETE FROM ratchet_hand_off WHERE number IN (
    SELECT number FROM ratchet_hand_off WHERE tenant = ?1 AND at < ?2 LIMIT ?3
) RETURNING job, pipeline, key
