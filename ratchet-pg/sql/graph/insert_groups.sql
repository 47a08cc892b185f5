-- No rows. Inserts groups of a graph.
INSERT INTO ratchet.job_group (id, graph, owner, finished_at, body)
SELECT g.id, $1, g.owner, g.finished_at, g.body
FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::text[]) AS g(id, owner, finished_at, body)
