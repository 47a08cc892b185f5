-- Rejects that match the filter, counted by job name, error type, fingerprint and interval. Times before 1970 are rounded
-- down too.
SELECT job_name, error_type, fingerprint, (at - ((at % $7) + $7) % $7) / $7 AS slot, count(*) AS n FROM ratchet.reject
WHERE ($1::uuid IS NULL OR job = $1)
    AND ($2::text IS NULL OR job_name = $2)
    AND ($3::text IS NULL OR error_type = $3)
    AND ($4::text IS NULL OR fingerprint = $4)
    AND ($5::bigint IS NULL OR at >= $5)
    AND ($6::bigint IS NULL OR at < $6)
GROUP BY job_name, error_type, fingerprint, slot
ORDER BY job_name COLLATE "C", error_type COLLATE "C", fingerprint COLLATE "C", slot
