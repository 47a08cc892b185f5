-- The number of keys of each queue that have used up their rate.
SELECT q.queue, (
    SELECT count(*) FROM ratchet.key_rate k WHERE k.queue = q.queue AND k.full_until > $2
) AS keys
FROM unnest($1::text[]) AS q(queue)
