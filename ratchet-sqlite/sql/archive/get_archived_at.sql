-- When a job was archived.
SELECT at FROM ratchet_archived WHERE job = ?1
