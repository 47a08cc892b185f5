-- The ids of archived jobs that match the filter, newest first.
SELECT j.id
FROM ratchet_archive.job j
CROSS JOIN LATERAL (SELECT * FROM ratchet_archive.outcome o WHERE o.job = j.id OFFSET 0) o
WHERE ($2::uuid IS NULL OR j.id < $2)
    AND (cardinality($3::smallint[]) = 0 OR o.state = ANY($3))
