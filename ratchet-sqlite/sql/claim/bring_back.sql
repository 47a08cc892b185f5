-- Returns the first set-aside jobs of a lane to the line. An expired job would take the turn of another one.
UPDATE ratchet_job SET ready = 1 WHERE seq IN (
    SELECT seq FROM ratchet_job
    WHERE lane = ?1 AND state = 0 AND ready = 2 AND (expires IS NULL OR expires > ?3)
    ORDER BY sort_key, due, id LIMIT ?2
)
