-- One row: when the first key of these queues lets a job start that was passed over.
SELECT min(k.full_until)
FROM unnest($1::text[]) AS q(queue) CROSS JOIN LATERAL (
    SELECT k.full_until FROM ratchet.key_rate k
    WHERE k.queue = q.queue AND k.waiting AND k.full_until > $2
    ORDER BY k.full_until LIMIT 1
) k
