-- A lane that has nothing set aside any more.
DELETE FROM ratchet_aside
WHERE lane = ?1 AND NOT EXISTS (SELECT 1 FROM ratchet_job WHERE lane = ?1 AND state = 0 AND ready = 2)
