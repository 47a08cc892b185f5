-- No rows. Adds an entry to the audit trail.
INSERT INTO ratchet.audit (number, at, actor, via, address, reason, verb, target, before, after, hash, signature)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
