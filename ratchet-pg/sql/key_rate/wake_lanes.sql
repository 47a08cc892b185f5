-- The queues of lanes whose jobs were brought back before this instant and were not claimed since: they may have been
-- canceled. The next claim brings back other jobs.
UPDATE ratchet.key_lane SET back = $2
WHERE cause = ANY (ARRAY (
    SELECT cause FROM ratchet.key_lane WHERE back IS NULL AND at <= $1 ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED
))
RETURNING queue
