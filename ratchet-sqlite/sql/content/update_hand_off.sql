-- Replaces the texts of a row if they are as expected.
UPDATE ratchet_hand_off SET checkpoint = ?6
WHERE ?1 IS NULL AND number = ?2 AND checkpoint IS ?3
