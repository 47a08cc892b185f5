-- The given leases that another transaction has locked. Locks the rest.
WITH locked AS MATERIALIZED (
    SELECT l.id FROM ratchet.lease l WHERE l.id = ANY($1::uuid[]) ORDER BY l.id FOR UPDATE SKIP LOCKED
)
SELECT l.id FROM ratchet.lease l WHERE l.id = ANY($1::uuid[]) AND NOT EXISTS (SELECT FROM locked k WHERE k.id = l.id)
