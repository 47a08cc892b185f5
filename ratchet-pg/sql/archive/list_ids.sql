-- The ids of archived jobs that match the filter, newest first.
SELECT j.id
FROM ratchet_archive.job j
CROSS JOIN LATERAL (SELECT * FROM ratchet_archive.outcome o WHERE o.job = j.id OFFSET 0) o
WHERE ($2::uuid IS NULL OR j.id < $2)
    AND (cardinality($3::smallint[]) = 0 OR o.state = ANY($3))
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
    AND ($14::uuid IS NULL OR j.extra::json #>> '{step,group}' = $14::text)
    AND $15::bigint IS NULL
    AND (cardinality($16::uuid[]) = 0 OR j.id = ANY($16))
ORDER BY j.id DESC
LIMIT $1
