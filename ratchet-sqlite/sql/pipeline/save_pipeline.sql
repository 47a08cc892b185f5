-- One row if a program accepts this pipeline from now on: no other program does, or none of its nodes has a valid lease.
INSERT INTO ratchet_pipeline (name, program, job, backlog_limit) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (name) DO UPDATE SET program = excluded.program, job = excluded.job, backlog_limit = excluded.backlog_limit
WHERE program = excluded.program
   OR NOT EXISTS (SELECT 1 FROM ratchet_node n WHERE n.program = ratchet_pipeline.program AND n.lease_until > ?5)
RETURNING 1
