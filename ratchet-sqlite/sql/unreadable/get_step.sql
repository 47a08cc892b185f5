-- The columns that a graph walk needs of a job that cannot be read.
SELECT state, grp, linked, wait, paused_from FROM ratchet_job WHERE id = ?1
