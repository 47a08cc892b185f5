-- Sets aside jobs of a lane (a list of seq) that cannot run now.
UPDATE ratchet_job SET ready = 2, lane = ?2 WHERE seq IN (SELECT value FROM json_each(?1))
