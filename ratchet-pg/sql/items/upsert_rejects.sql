-- No rows. Inserts rejects, or updates existing ones.
INSERT INTO ratchet.reject (job, number, run, at, job_name, error_type, fingerprint, message, payload)
SELECT r.job, r.number, r.run, $1, r.job_name, r.error_type, r.fingerprint, r.message, r.payload
FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
    AS r(job, number, run, job_name, error_type, fingerprint, message, payload)
ON CONFLICT (job, number) DO UPDATE SET run = EXCLUDED.run, at = EXCLUDED.at, error_type = EXCLUDED.error_type,
    fingerprint = EXCLUDED.fingerprint, message = EXCLUDED.message, payload = EXCLUDED.payload
