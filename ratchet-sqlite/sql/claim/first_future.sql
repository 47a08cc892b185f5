-- The due time of the first future job of a template.
SELECT min(due) FROM ratchet_job WHERE template = ?1 AND state = 0 AND ready = 0
