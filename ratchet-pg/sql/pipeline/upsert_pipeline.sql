-- One row if a program accepts this pipeline from now on: no other program does, or none of its nodes has a valid lease.
INSERT INTO ratchet.pipeline AS p (name, program, job, backlog_limit) VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE SET program = EXCLUDED.program, job = EXCLUDED.job, backlog_limit = EXCLUDED.backlog_limit
WHERE p.program = EXCLUDED.program
    OR NOT EXISTS (SELECT 1 FROM ratchet.node n WHERE n.program = p.program AND n.until > $5)
RETURNING 1
