-- Groups that have ended, are empty, have no live step waiting for them, and whose record contains a text.
SELECT g.id, g.graph, g.body FROM ratchet.job_group g
WHERE g.finished_at IS NOT NULL AND strpos(g.body, $1) > 0
    AND NOT EXISTS (SELECT FROM ratchet.member m WHERE m.graph = g.graph AND m.grp = g.id OFFSET 0)
    AND NOT EXISTS (SELECT FROM ratchet.job_group i WHERE i.owner = g.id OFFSET 0)
    AND NOT EXISTS (
        SELECT FROM ratchet.edge e JOIN ratchet.job j ON j.id = e.child
        WHERE e.parent = g.id AND (
            NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = e.child OFFSET 0)
            OR EXISTS (SELECT FROM ratchet.paused p WHERE p.job = e.child OFFSET 0)
        )
        OFFSET 0
    )
ORDER BY g.finished_at LIMIT $2 FOR UPDATE OF g SKIP LOCKED
