-- No rows: what members wait for, and what their cancel goes back to. No root leaves that as it is, an empty one takes
-- it away.
UPDATE ratchet.member m SET wait = x.wait, root = nullif(coalesce(x.root, m.root), '')
FROM unnest($1::uuid[], $2::text[], $3::text[]) AS x(job, wait, root) WHERE m.job = x.job
