-- Lingering runs of nodes whose lease expired.
SELECT x.job, x.lease, x.version FROM ratchet.lingering x
WHERE NOT EXISTS (SELECT FROM ratchet.node n WHERE n.id = x.node AND n.until > $1)
