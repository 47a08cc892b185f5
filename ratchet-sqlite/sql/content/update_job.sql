-- Replaces the arguments, callbacks and finished parent of a job if its arguments are as expected.
UPDATE ratchet_job SET payload = ?3, own = ?4 WHERE id = ?1 AND payload = ?2
