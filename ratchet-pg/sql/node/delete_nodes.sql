-- No rows. Deletes expired nodes that hold no runs, and the empty leases of expired nodes.
WITH empty AS (
    DELETE FROM ratchet.lease l USING ratchet.node n
    WHERE l.node = n.id AND n.until <= $1 AND l.remaining <= 0
)
DELETE FROM ratchet.node n
WHERE n.until <= $1
    AND NOT EXISTS (SELECT FROM ratchet.lease l WHERE l.node = n.id AND l.remaining > 0)
    AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.node = n.id)
