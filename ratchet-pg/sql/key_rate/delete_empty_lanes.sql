-- No rows. Deletes those of these lanes that have no jobs.
DELETE FROM ratchet.key_lane l
-- A lookup per lane. A join could read all that waits.
WHERE l.cause = ANY($1::text[]) AND (SELECT true FROM ratchet.blocked b WHERE b.cause = l.cause LIMIT 1) IS NULL
