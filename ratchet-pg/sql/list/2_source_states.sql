    SELECT u.id FROM (
        (
            SELECT o.job AS id FROM ratchet.outcome o
            WHERE 3 = ANY($18::smallint[]) AND ($2::uuid IS NULL OR o.job < $2)
                AND o.state = 3 AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
            ORDER BY o.job DESC LIMIT $17
        )
        UNION ALL
        (
            SELECT o.job AS id FROM ratchet.outcome o
            WHERE 5 = ANY($18::smallint[]) AND ($2::uuid IS NULL OR o.job < $2) AND o.state = 5
            ORDER BY o.job DESC LIMIT $17
        )
        UNION ALL
        (
            SELECT p.job AS id FROM ratchet.paused p
            WHERE 4 = ANY($18::smallint[]) AND ($2::uuid IS NULL OR p.job < $2)
            ORDER BY p.job DESC LIMIT $17
        )
        UNION ALL
        (
            SELECT m.job AS id
            FROM (SELECT DISTINCT unnest(l.jobs) AS job FROM ratchet.lease l) m
            CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = m.job OFFSET 0) j
            WHERE 1 = ANY($18::smallint[]) AND ($2::uuid IS NULL OR m.job < $2)
                -- A lookup per job. A subquery without a limit could be hashed, which reads all that waits.
                AND (SELECT true FROM ratchet.outcome o WHERE o.job = m.job LIMIT 1) IS NULL
                AND (SELECT true FROM ratchet.paused p WHERE p.job = m.job LIMIT 1) IS NULL
                AND (SELECT true FROM ratchet.ready r WHERE r.job = m.job AND r.version > 0 LIMIT 1) IS NULL
                AND (
                    SELECT true FROM ratchet.ready r
                    WHERE r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id
                        AND r.version = 0
                    LIMIT 1
                ) IS NULL
                AND (SELECT true FROM ratchet.scheduled s WHERE s.job = m.job LIMIT 1) IS NULL
                AND (SELECT true FROM ratchet.blocked b WHERE b.job = m.job LIMIT 1) IS NULL
            ORDER BY m.job DESC LIMIT $17
        )
        UNION ALL
        (
            SELECT r.job AS id FROM ratchet.ready r
            WHERE 0 = ANY($18::smallint[]) AND ($2::uuid IS NULL OR r.job < $2)
            ORDER BY r.job DESC LIMIT $17
        )
        UNION ALL
        (
            SELECT s.job AS id FROM ratchet.scheduled s
            WHERE 0 = ANY($18::smallint[]) AND ($2::uuid IS NULL OR s.job < $2)
            ORDER BY s.job DESC LIMIT $17
        )
        UNION ALL
        (
            SELECT b.job AS id FROM ratchet.blocked b
            WHERE 0 = ANY($18::smallint[]) AND ($2::uuid IS NULL OR b.job < $2)
            ORDER BY b.job DESC LIMIT $17
        )
    ) u
    ORDER BY u.id DESC LIMIT $17
