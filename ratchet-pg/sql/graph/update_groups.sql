-- No rows. Updates groups.
UPDATE ratchet.job_group g SET finished_at = x.finished_at, body = x.body
FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS x(id, finished_at, body) WHERE g.id = x.id
