-- One item that was dealt with.
DELETE FROM ratchet_reject WHERE job = ?1 AND number = ?2
