-- Operations, newest first.
SELECT record FROM ratchet.operation ORDER BY id DESC LIMIT $1
