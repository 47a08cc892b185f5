-- Replaces the texts of a row if they are as expected.
UPDATE ratchet_attempt SET line = ?6
WHERE job = ?1 AND run = ?2 AND line IS ?3
