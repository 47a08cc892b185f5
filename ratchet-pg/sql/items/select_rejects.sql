-- Rejects that match the filter, after the given one, by job and index.
SELECT job, number, run, at, job_name, error_type, fingerprint, message, payload FROM ratchet.reject
WHERE (job, number) > ($1, $2)
    AND ($4::uuid IS NULL OR job = $4)
    AND ($5::text IS NULL OR job_name = $5)
    AND ($6::text IS NULL OR error_type = $6)
    AND ($7::text IS NULL OR fingerprint = $7)
ORDER BY job, number LIMIT $3
