-- Updates the notes of a job.
UPDATE ratchet_job SET progress = ?2, checkpoint = ?3, warnings = ?4 WHERE seq = ?1
