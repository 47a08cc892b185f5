-- No rows. Changes the queue and the priority of a job: the only columns of a job row that ever change.
UPDATE ratchet.job SET queue = $2, priority = $3, head = $4 WHERE id = $1
