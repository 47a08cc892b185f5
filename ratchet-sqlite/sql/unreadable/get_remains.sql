-- The columns needed to delete a job that cannot be read.
SELECT id, state, template, grp, linked
FROM ratchet_job WHERE seq = ?1
