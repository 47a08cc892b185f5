-- Replaces the copy of the arguments that a job carries while it stands where its submit has put it.
UPDATE ratchet.ready r SET payload = $3::bytea
FROM ratchet.job j
WHERE j.id = $1::uuid AND r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id
    AND r.version = 0 AND r.payload = $2::bytea
