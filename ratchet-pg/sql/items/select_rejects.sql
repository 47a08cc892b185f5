-- Rejects that match the filter, after the given one, by job and index.
SELECT job, number, run, at, job_name, error_type, fingerprint, message, payload FROM ratchet.reject
WHERE ($1::uuid IS NULL OR job = $1)
    AND ($2::text IS NULL OR job_name = $2)
    AND ($3::text IS NULL OR error_type = $3)
    AND ($4::text IS NULL OR fingerprint = $4)
    AND ($5::bigint IS NULL OR at >= $5)
    AND ($6::bigint IS NULL OR at < $6)
    AND (job, number) > ($7, $8)
ORDER BY job, number LIMIT $9
