-- Entries of the audit trail, newest first, older than $1.
SELECT number, at, actor, via, address, reason, verb, target, before, after, hash, signature FROM ratchet.audit
WHERE number < $1 AND ($2::text IS NULL OR actor = $2) AND ($3::text IS NULL OR verb = $3)
    AND ($4::text IS NULL OR target = $4)
ORDER BY number DESC LIMIT $5
