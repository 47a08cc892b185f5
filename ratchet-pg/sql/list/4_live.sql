LEFT JOIN LATERAL (SELECT * FROM ratchet.outcome o WHERE o.job = j.id OFFSET 0) o ON true
LEFT JOIN LATERAL (SELECT * FROM ratchet.paused p WHERE p.job = j.id OFFSET 0) p ON true
WHERE (cardinality($3::smallint[]) = 0 OR
        CASE
            WHEN p.job IS NOT NULL THEN 4
            WHEN o.job IS NOT NULL THEN o.state
            WHEN EXISTS (SELECT FROM ratchet.ready r WHERE r.job = j.id AND r.version > 0)
                OR EXISTS (
                    SELECT FROM ratchet.ready r
                    WHERE r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id
                        AND r.version = 0
                )
                OR EXISTS (SELECT FROM ratchet.scheduled s WHERE s.job = j.id)
                OR EXISTS (SELECT FROM ratchet.blocked b WHERE b.job = j.id) THEN 0
            ELSE 1
        END = ANY($3))
