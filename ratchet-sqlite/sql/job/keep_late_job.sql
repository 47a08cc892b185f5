-- Removes the expiry of a job, because an operator has retried it.
UPDATE ratchet_job SET expires = NULL WHERE seq = ?1
