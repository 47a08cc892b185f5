-- Replaces the texts of a row if they are as expected.
UPDATE ratchet_reject SET body = ?6
WHERE job = ?1 AND number = ?2 AND body IS ?3
