-- These members as a graph walk needs them. A member without an outcome has not ended.
SELECT m.job, m.grp, m.linked, m.first_match, m.wait, m.root, p.failed, o.state, o.cause
FROM unnest($1::uuid[]) AS x(job)
CROSS JOIN LATERAL (SELECT * FROM ratchet.member m WHERE m.job = x.job OFFSET 0) m
LEFT JOIN LATERAL (SELECT p.failed FROM ratchet.paused p WHERE p.job = x.job OFFSET 0) p ON true
LEFT JOIN LATERAL (SELECT o.state, o.cause FROM ratchet.outcome o WHERE o.job = x.job OFFSET 0) o ON true
