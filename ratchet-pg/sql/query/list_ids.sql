-- The ids of jobs that match the filter, newest first.
SELECT j.id
FROM ratchet.job j
LEFT JOIN LATERAL (SELECT * FROM ratchet.outcome o WHERE o.job = j.id OFFSET 0) o ON true
LEFT JOIN LATERAL (SELECT * FROM ratchet.paused p WHERE p.job = j.id OFFSET 0) p ON true
WHERE ($2::uuid IS NULL OR j.id < $2)
    AND (cardinality($3::smallint[]) = 0 OR
        CASE
            WHEN p.job IS NOT NULL THEN 4
            WHEN o.job IS NOT NULL THEN o.state
            WHEN EXISTS (SELECT FROM ratchet.ready r WHERE r.job = j.id AND r.version > 0)
                OR EXISTS (
                    SELECT FROM ratchet.ready r
                    WHERE r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id
                        AND r.version = 0
                )
                OR EXISTS (SELECT FROM ratchet.scheduled s WHERE s.job = j.id)
                OR EXISTS (SELECT FROM ratchet.blocked b WHERE b.job = j.id) THEN 0
            ELSE 1
        END = ANY($3))
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
    AND ($14::uuid IS NULL OR j.id IN (
        SELECT m.job FROM ratchet.member m
        WHERE m.graph = (SELECT g.graph FROM ratchet.job_group g WHERE g.id = $14) AND m.grp = $14
    ))
    AND $15::bigint IS NULL
    AND (cardinality($16::uuid[]) = 0 OR j.id = ANY($16))
ORDER BY j.id DESC
LIMIT $1
