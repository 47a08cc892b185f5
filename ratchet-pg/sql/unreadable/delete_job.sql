-- No rows. Deletes a job from all tables.
WITH ready AS (DELETE FROM ratchet.ready WHERE job = $1 AND version > 0),
-- A job that was never moved is at the position of its submit.
fresh AS (
    DELETE FROM ratchet.ready r USING ratchet.job j
    WHERE j.id = $1 AND r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id AND r.version = 0
),
scheduled AS (DELETE FROM ratchet.scheduled WHERE job = $1),
blocked AS (DELETE FROM ratchet.blocked WHERE job = $1),
paused AS (DELETE FROM ratchet.paused WHERE job = $1 RETURNING job),
business AS (DELETE FROM ratchet.business WHERE job = $1),
slots AS (DELETE FROM ratchet.slot WHERE job = $1),
lingering AS (DELETE FROM ratchet.lingering WHERE job = $1),
ended AS (DELETE FROM ratchet.outcome WHERE job = $1 RETURNING job, state, tableoid AS part),
removed AS (DELETE FROM ratchet.job WHERE id = $1 RETURNING id, queue),
attempts AS (DELETE FROM ratchet.attempt WHERE job = $1),
notes AS (DELETE FROM ratchet.note WHERE job = $1),
logs AS (DELETE FROM ratchet.log WHERE job = $1),
members AS (DELETE FROM ratchet.member WHERE job = $1),
edges AS (DELETE FROM ratchet.edge WHERE parent = $1),
rejects AS (DELETE FROM ratchet.reject WHERE job = $1),
successors AS (DELETE FROM ratchet.successor WHERE original = $1)
-- The outcome of a job that was paused after it had failed is not part of the tally.
INSERT INTO ratchet.tally (queue, state, part, change)
SELECT r.queue, e.state, e.part, -1 FROM removed r JOIN ended e ON e.job = r.id
WHERE NOT EXISTS (SELECT FROM paused)
