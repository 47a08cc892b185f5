-- Replaces the texts of a row if they are as expected.
UPDATE ratchet_job SET output = ?6, error = ?7, envelope = ?8
WHERE id = ?1 AND ?2 = 0 AND output IS ?3 AND error IS ?4 AND envelope IS ?5
