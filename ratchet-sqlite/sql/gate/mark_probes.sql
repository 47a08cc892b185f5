-- Marks claimed jobs (a list of seq) as probes of an opening of a breaker.
UPDATE ratchet_job SET probe = ?2 WHERE seq IN (SELECT value FROM json_each(?1))
