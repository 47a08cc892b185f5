-- Deletes a lingering run whose row cannot be read.
DELETE FROM ratchet_lingering WHERE job = ?1 AND lease = ?2 AND fence = ?3
