-- The number of running jobs per queue: members that have not left their lease, and lingering runs. Those of earlier versions
-- have no queue, and count in the queue of their job.
SELECT q.queue, ((SELECT COALESCE(sum(l.remaining), 0) FROM ratchet.lease l WHERE l.queue = q.queue)
    + (SELECT count(*) FROM ratchet.lingering x
        WHERE COALESCE(x.queue, (SELECT j.queue FROM ratchet.job j WHERE j.id = x.job)) = q.queue))::bigint AS running
FROM unnest($1::text[]) AS q(queue)
