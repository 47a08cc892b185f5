-- Replaces the texts of a row if they are as expected.
UPDATE ratchet_job SET progress = ?6, checkpoint = ?7, warnings = ?8
WHERE id = ?1 AND ?2 = 0 AND progress IS ?3 AND checkpoint IS ?4 AND warnings IS ?5
