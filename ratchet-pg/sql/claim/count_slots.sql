-- The number of runs that hold each key. Runs after the lock, so that it sees the slots taken by the previous claim.
SELECT key, count(*) FROM ratchet.slot WHERE key = ANY($1::text[]) AND NOT probe GROUP BY key
