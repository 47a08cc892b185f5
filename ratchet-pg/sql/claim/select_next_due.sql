-- One row: the next due time after this instant, of jobs in these queues that the node knows. Due jobs that were not
-- promoted are locked by another transaction and are ignored.
SELECT min(s.due)
FROM unnest($1::text[]) AS q(queue) CROSS JOIN LATERAL (
    SELECT s.due FROM ratchet.scheduled s
    WHERE s.queue = q.queue AND s.due > $4 AND s.job_version <= ($3::integer[])[array_position($2::text[], s.name)]
        AND (s.judges IS NULL OR s.judges::jsonb <@ to_jsonb($2::text[]))
    ORDER BY s.due LIMIT 1
) s
