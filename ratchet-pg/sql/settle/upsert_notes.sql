-- No rows. Inserts or updates the notes of jobs. A NULL value keeps the stored one.
INSERT INTO ratchet.note AS n (job, percent, message, checkpoint, warnings)
SELECT x.job, x.percent, x.message, x.checkpoint, ARRAY(SELECT jsonb_array_elements_text(x.warnings::jsonb))
FROM unnest($1::uuid[], $2::real[], $3::text[], $4::text[], $5::text[]) AS x(job, percent, message, checkpoint, warnings)
ON CONFLICT (job) DO UPDATE SET
    percent = COALESCE(EXCLUDED.percent, n.percent),
    message = CASE WHEN EXCLUDED.percent IS NULL THEN n.message ELSE EXCLUDED.message END,
    checkpoint = COALESCE(EXCLUDED.checkpoint, n.checkpoint),
    warnings = n.warnings || EXCLUDED.warnings
