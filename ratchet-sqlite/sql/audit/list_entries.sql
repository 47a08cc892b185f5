-- Newest first, older than ?1.
SELECT number, at, actor, via, address, reason, verb, target, before, after, hash, signature FROM ratchet_audit
WHERE number < ?1 AND (?2 IS NULL OR actor = ?2) AND (?3 IS NULL OR verb = ?3) AND (?4 IS NULL OR target = ?4)
ORDER BY number DESC LIMIT ?5
