-- One row: how many idempotency keys a scope has, at most a number.
SELECT count(*) FROM (SELECT FROM ratchet.idempotency i WHERE i.scope = $1 LIMIT $2) i
