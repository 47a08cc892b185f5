-- The jobs of a group behind one, in the order of their ids.
SELECT * FROM ratchet_job WHERE grp = ?1 AND id > ?2 ORDER BY id LIMIT ?3
