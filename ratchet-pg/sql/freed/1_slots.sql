-- The queues of the runs whose slots were freed, and of the jobs that returned to `ready` for them.
WITH freed AS (
    DELETE FROM ratchet.slot s USING unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS t(job, lease, version)
    WHERE s.job = t.job AND s.lease = t.lease AND s.version = t.version
    RETURNING s.queue, s.key, s.probe
),
