-- Deletes a reject that was handled.
DELETE FROM ratchet_reject WHERE job = ?1 AND number = ?2
