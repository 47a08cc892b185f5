-- No rows. Deletes those of these lanes that have no jobs.
DELETE FROM ratchet.key_lane l
WHERE l.cause = ANY($1::text[]) AND NOT EXISTS (SELECT FROM ratchet.blocked b WHERE b.cause = l.cause)
