-- One row: how many hand-offs a correlation id has, at most a number.
SELECT count(*) FROM (SELECT FROM ratchet.hand_off h WHERE h.correlation_id = $1 LIMIT $2) h
