-- The graphs of these jobs and groups, locked in a fixed order.
SELECT g.id FROM ratchet.graph g
WHERE g.id = ANY (ARRAY(
    SELECT m.graph FROM ratchet.member m WHERE m.job = ANY($1::uuid[])
    UNION SELECT j.graph FROM ratchet.job_group j WHERE j.id = ANY($2::uuid[])
))
ORDER BY g.id FOR UPDATE
