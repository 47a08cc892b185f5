-- One row: how many hand-offs a tenant has, at most a number.
SELECT count(*) FROM (SELECT FROM ratchet.hand_off h WHERE h.tenant = $1 LIMIT $2) h
