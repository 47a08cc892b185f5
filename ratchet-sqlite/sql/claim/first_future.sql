-- When the first future job of a kind is due.
SELECT min(due) FROM ratchet_job WHERE template = ?1 AND state = 0 AND ready = 0
