-- The first jobs of a lane that was set aside: back into line.
UPDATE ratchet_job SET ready = 1 WHERE seq IN (
    SELECT seq FROM ratchet_job WHERE lane = ?1 AND state = 0 AND ready = 2 ORDER BY sort_key, due, id LIMIT ?2
)
