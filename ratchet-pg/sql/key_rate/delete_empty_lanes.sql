-- No rows. Deletes those of these lanes that have no jobs.
DELETE FROM ratchet.key_lane l
-- A lookup per lane, in the order of an index. A join could read all that waits.
WHERE l.cause = ANY($1::text[]) AND (SELECT true FROM ratchet.blocked b WHERE b.cause = l.cause ORDER BY b.sort_key, b.due, b.job LIMIT 1) IS NULL
