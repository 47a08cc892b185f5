-- No rows. Inserts the end of the audit trail if its row is missing.
INSERT INTO ratchet.audit_head (number, hash)
SELECT number, hash FROM (
    (SELECT number, hash FROM ratchet.audit ORDER BY number DESC LIMIT 1)
    UNION ALL SELECT 0, decode(repeat('00', 32), 'hex')
) AS ends
ORDER BY number DESC LIMIT 1
ON CONFLICT DO NOTHING
