-- One row if the run was lingering. Deletes it.
DELETE FROM ratchet_lingering WHERE job = ?1 AND lease = ?2 AND fence = ?3 RETURNING slot_key
