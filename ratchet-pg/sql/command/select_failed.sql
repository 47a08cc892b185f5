-- The ids of failed jobs that match the filter, oldest first.
SELECT o.job
FROM ratchet.outcome o JOIN ratchet.job j ON j.id = o.job
WHERE o.state = 3
    AND ($2::uuid IS NULL OR o.job > $2)
    AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
    AND (cardinality($3::smallint[]) = 0 OR 3 = ANY($3))
    AND (cardinality($4::text[]) = 0 OR j.queue = ANY($4))
    AND (cardinality($5::text[]) = 0 OR j.name = ANY($5))
    AND ($6::text IS NULL OR jsonb_exists(j.tags, $6))
    AND ($7::text IS NULL OR j.tenant = $7)
    AND ($8::text IS NULL OR j.business_key = $8)
    AND ($9::text IS NULL OR j.correlation_id = $9)
    AND ($10::text IS NULL OR o.reason = $10)
    AND ($11::text IS NULL OR o.fingerprint = $11)
    AND ($12::bigint IS NULL OR j.queued_at < $12)
    AND ($13::bigint IS NULL OR j.queued_at >= $13)
    AND ($14::uuid IS NULL OR o.job IN (
        SELECT m.job FROM ratchet.member m
        WHERE m.graph = (SELECT g.graph FROM ratchet.job_group g WHERE g.id = $14) AND m.grp = $14
    ))
    -- No failed job expires.
    AND $15::bigint IS NULL
    AND (cardinality($16::uuid[]) = 0 OR o.job = ANY($16))
ORDER BY o.job
LIMIT $1
