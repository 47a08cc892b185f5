-- The freed business keys of these jobs: the job has ended or no longer exists, and has no lingering run. The keys must
-- be locked.
DELETE FROM ratchet.business b
WHERE b.job = ANY($1::uuid[])
    AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = b.job)
    AND (
        EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = b.job OFFSET 0)
        OR NOT EXISTS (SELECT FROM ratchet.job j WHERE j.id = b.job OFFSET 0)
    )
RETURNING b.key, b.job
