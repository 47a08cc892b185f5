-- How many runs hold each key. Asked after the lock, so that it sees what the claim before has taken.
SELECT key, count(*) FROM ratchet.slot WHERE key = ANY($1::text[]) AND NOT probe GROUP BY key
