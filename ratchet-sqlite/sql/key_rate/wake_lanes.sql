-- Finds lanes whose jobs were brought back before an instant and were not claimed since: they may have been canceled. The
-- next claim brings back other jobs.
UPDATE ratchet_aside SET back = ?2, brought = NULL
WHERE lane IN (SELECT lane FROM ratchet_aside WHERE brought <= ?1 ORDER BY brought LIMIT 1000)
RETURNING queue
