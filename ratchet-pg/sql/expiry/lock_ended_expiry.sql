-- The jobs that have ended or no longer exist, of those whose time to expire has come. Locks them, so that a step that
-- is reopened meanwhile is seen by the next statement.
SELECT e.job FROM ratchet.expiry e
WHERE e.at <= (SELECT ratchet.now_micros())
    AND (
        EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = e.job)
        OR NOT EXISTS (SELECT FROM ratchet.job j WHERE j.id = e.job)
    )
ORDER BY e.at LIMIT 1000
FOR UPDATE OF e SKIP LOCKED
