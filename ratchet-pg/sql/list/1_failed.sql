-- The ids of failed jobs that match the filter, oldest first.
SELECT o.job
FROM ratchet.outcome o JOIN ratchet.job j ON j.id = o.job
WHERE o.state = 3
    AND ($2::uuid IS NULL OR o.job > $2)
    AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
    AND (cardinality($3::smallint[]) = 0 OR 3 = ANY($3))
