-- Rejects that match the filter, counted by job name, error type and fingerprint.
SELECT job_name, error_type, fingerprint, count(*) AS n, min(at) AS oldest, max(at) AS latest FROM ratchet.reject
WHERE ($1::uuid IS NULL OR job = $1)
    AND ($2::text IS NULL OR job_name = $2)
    AND ($3::text IS NULL OR error_type = $3)
    AND ($4::text IS NULL OR fingerprint = $4)
    AND ($5::bigint IS NULL OR at >= $5)
    AND ($6::bigint IS NULL OR at < $6)
GROUP BY job_name, error_type, fingerprint
ORDER BY job_name COLLATE "C", error_type COLLATE "C", fingerprint COLLATE "C"
