-- Replaces the texts of a row if they are as expected.
UPDATE ratchet_alert SET message = ?6
WHERE ?1 IS NULL AND number = ?2 AND message IS ?3
