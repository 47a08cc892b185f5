-- Claimed jobs (a list of seq) that are probes of an opening.
UPDATE ratchet_job SET probe = ?2 WHERE seq IN (SELECT value FROM json_each(?1))
