-- The immutable columns of a narrow row.
SELECT j.version AS job_version, j.climit, j.business_key IS NOT NULL OR j.ckey IS NOT NULL AS keyed, j.queue, j.name,
    j.ckey, j.service, j.tenant, j.head, m.judges
FROM ratchet.job j
LEFT JOIN LATERAL (SELECT m.judges FROM ratchet.member m WHERE m.job = j.id AND j.extra IS NOT NULL OFFSET 0) m ON true
WHERE j.id = $1
