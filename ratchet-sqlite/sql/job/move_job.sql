-- Changes the queue and the template of a job: the only columns of what was submitted that ever change.
UPDATE ratchet_job SET template = ?2, queue = ?3 WHERE seq = ?1
