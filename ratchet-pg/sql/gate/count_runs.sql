-- The number of running jobs per queue: members that have not left their lease, and lingering runs.
SELECT q.queue, ((SELECT COALESCE(sum(l.remaining), 0) FROM ratchet.lease l WHERE l.queue = q.queue)
    + (SELECT count(*) FROM ratchet.lingering x
        CROSS JOIN LATERAL (SELECT j.queue FROM ratchet.job j WHERE j.id = x.job OFFSET 0) j WHERE j.queue = q.queue))::bigint AS running
FROM unnest($1::text[]) AS q(queue)
