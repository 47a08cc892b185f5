-- No rows. Updates the wait conditions and root causes of members. A NULL root keeps the root cause, an empty one
-- removes it.
UPDATE ratchet.member m SET wait = x.wait, root = nullif(coalesce(x.root, m.root), '')
FROM unnest($1::uuid[], $2::text[], $3::text[]) AS x(job, wait, root) WHERE m.job = x.job
