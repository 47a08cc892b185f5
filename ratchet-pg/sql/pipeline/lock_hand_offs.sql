-- Hand-offs that are not finished, locked: their keys, the jobs that handed them over, and when.
SELECT h.key, h.job, h.at FROM ratchet.hand_off h
WHERE h.pipeline = $1 AND h.key = ANY ($2::text[]) AND NOT h.finished
FOR UPDATE
