-- Replaces the texts of a row if they are as expected.
UPDATE ratchet_delivery SET envelope = ?6
WHERE ?1 IS NULL AND number = ?2 AND envelope IS ?3
