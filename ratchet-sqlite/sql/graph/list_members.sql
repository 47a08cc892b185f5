-- The jobs of a group after the given id, ordered by id.
SELECT job.* FROM ratchet_job AS job WHERE grp = ?1 AND id > ?2 ORDER BY id LIMIT ?3
