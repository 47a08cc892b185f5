-- The graphs of these jobs, locked in one order.
SELECT g.id FROM ratchet.graph g
WHERE g.id = ANY (ARRAY(SELECT DISTINCT m.graph FROM ratchet.member m WHERE m.job = ANY($1::uuid[])))
ORDER BY g.id FOR UPDATE
