-- The graphs of these jobs that another transaction has locked and may be changing. Locks the rest.
WITH asked AS MATERIALIZED (SELECT DISTINCT m.graph FROM ratchet.member m WHERE m.job = ANY($1::uuid[])),
locked AS MATERIALIZED (
    SELECT g.id FROM ratchet.graph g WHERE g.id = ANY (ARRAY(SELECT graph FROM asked)) ORDER BY g.id FOR UPDATE SKIP LOCKED
)
SELECT a.graph FROM asked a WHERE NOT EXISTS (SELECT FROM locked l WHERE l.id = a.graph)
    AND EXISTS (SELECT FROM ratchet.graph g WHERE g.id = a.graph)
