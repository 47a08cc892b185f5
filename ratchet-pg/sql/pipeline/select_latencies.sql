-- How long the hand-offs of a pipeline that were admitted last had waited.
SELECT greatest(a.at - a.handed_at, 0) FROM ratchet.admission a WHERE a.pipeline = $1 ORDER BY a.number DESC LIMIT $2
