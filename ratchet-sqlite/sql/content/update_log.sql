-- Replaces the texts of a row if they are as expected.
UPDATE ratchet_log SET line = ?6
WHERE job = ?1 AND number = ?2 AND line IS ?3
