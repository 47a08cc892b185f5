    SELECT x.job AS id
    FROM (SELECT x.job FROM ratchet.expiry x WHERE x.at <= $15 AND ($2::uuid IS NULL OR x.job < $2) OFFSET 0) x
    CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = x.job OFFSET 0) j
    -- A lookup per job. A subquery without a limit could be hashed, which reads all that waits.
    WHERE (SELECT true FROM ratchet.ready r WHERE r.job = j.id AND r.version > 0 LIMIT 1)
        OR (
            SELECT true FROM ratchet.ready r
            WHERE r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id
                AND r.version = 0
            LIMIT 1
        )
        OR (SELECT true FROM ratchet.scheduled s WHERE s.job = j.id LIMIT 1)
        OR (SELECT true FROM ratchet.blocked b WHERE b.job = j.id LIMIT 1)
        OR (SELECT NOT p.failed FROM ratchet.paused p WHERE p.job = j.id LIMIT 1)
    ORDER BY x.job DESC LIMIT $17
