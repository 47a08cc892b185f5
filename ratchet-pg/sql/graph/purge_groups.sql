-- The graphs of the deleted groups. Deletes groups that ended long enough ago, are empty, and have no live step waiting
-- for them.
WITH old AS MATERIALIZED (
    SELECT g.id FROM ratchet.job_group g
    WHERE g.finished_at <= (SELECT ratchet.now_micros() - $1)
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
    ORDER BY g.finished_at LIMIT $2 FOR UPDATE SKIP LOCKED
),
edges AS (DELETE FROM ratchet.edge WHERE parent = ANY (ARRAY(SELECT id FROM old)))
DELETE FROM ratchet.job_group WHERE id = ANY (ARRAY(SELECT id FROM old)) RETURNING graph
