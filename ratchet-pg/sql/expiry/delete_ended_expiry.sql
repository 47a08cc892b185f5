-- No rows. Deletes the rows of jobs that have ended or no longer exist.
DELETE FROM ratchet.expiry e
WHERE e.job = ANY($1::uuid[])
    AND (
        EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = e.job)
        OR NOT EXISTS (SELECT FROM ratchet.job j WHERE j.id = e.job)
    )
